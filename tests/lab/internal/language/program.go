// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// programFile is the name of the program's file.
const programFile = "program.json"

// program is the content of that file.
type program struct {
	Install install `json:"install"`
	// Things are the names of the things to register.
	Things []string `json:"things"`
	// InApply has the names of things by that of the thing in whose apply each is registered: a
	// preview in which the ID of that one is not known yet does not see it.
	InApply map[string]string `json:"inApply"`
	// Export names the things whose references are outputs.
	Export []string `json:"export"`
	// Dynamic are the names of resources of a dynamic provider, and Code is the text of that.
	Dynamic []string `json:"dynamic"`
	Code    string   `json:"code"`
	// Stderr are lines that the program prints before it ends with Fail.
	Stderr []string `json:"stderr"`
	// Fail is the error to end with. $DIR in both is the directory of the program.
	Fail string `json:"fail"`
}

// install is what the installation does.
type install struct {
	// Stdout and Stderr are lines to print, with environment variables expanded.
	Stdout []string `json:"stdout"`
	Stderr []string `json:"stderr"`
	// Write are files to write in the directory of the program, with their text.
	Write map[string]string `json:"write"`
	// Fail is the error to end with.
	Fail string `json:"fail"`
	// Hang makes it never end, after it has created the file "installing".
	Hang bool `json:"hang"`
}

func read(dir string) (program, error) {
	text, err := os.ReadFile(filepath.Join(dir, programFile))
	if err != nil {
		return program{}, fmt.Errorf("reading the program: %w", err)
	}
	var p program
	if err := json.Unmarshal(text, &p); err != nil {
		return program{}, fmt.Errorf("reading %s: %w", programFile, err)
	}
	return p, nil
}
