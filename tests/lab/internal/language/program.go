// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// programFile is the program.
const programFile = "program.json"

// program is what a program says.
type program struct {
	Install install `json:"install"`
	// Things are the names of those to register.
	Things []string `json:"things"`
}

// install is what the installation does.
type install struct {
	// Stdout and Stderr are lines to print, with the variables of the environment in them.
	Stdout []string `json:"stdout"`
	Stderr []string `json:"stderr"`
	// Fail is the error to end with.
	Fail string `json:"fail"`
	// Hang has it never end. It then makes the file "installing" before.
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
