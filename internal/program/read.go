// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Checked is what is found of a Program.
type Checked struct {
	// Text is what Pulumi reads, and Digest that of all that the Program says. They
	// are empty where it cannot be written as YAML.
	Text   []byte
	Digest string
	// ProjectConfig are the config values for providers, by name.
	ProjectConfig map[string]any
	// ResourceNames are those of its resources.
	ResourceNames map[string]bool
	// Declared are the config values that it takes.
	Declared []Declared
	// Packages are the versions of packages, by name.
	Packages map[string]string
	// Invalid is why it cannot be run at all.
	Invalid Faults
	// Reaches is what it would reach outside its project, where it is run on the
	// controller's own machine.
	Reaches Faults
	// Undeclared are the names that it refers to and does not declare, of which the
	// config of a Stack has to have each.
	Undeclared []string
	// Resources is how many resources it declares.
	Resources int
}

// maxSize bounds a program. A Kubernetes object is not bigger.
const maxSize = 3 << 20

// Read makes the text that Pulumi reads of the program of a Program, in JSON, and
// returns what that JSON says. Whether Pulumi can run it is not looked at.
func Read(raw []byte) (checked Checked, object map[string]any, err error) {
	if len(raw) > maxSize {
		return Checked{}, nil, fmt.Errorf("it has %d bytes, and may have %d", len(raw), maxSize)
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return Checked{}, nil, err
	}
	if object == nil {
		// It would delete all that a Stack has made, and is more likely a mistake than
		// {}, which says so.
		return Checked{}, nil, errors.New("it is missing, or null: a program without any resources is written as {}")
	}
	text, err := v1.ProgramText(raw)
	if err != nil {
		return Checked{}, nil, err
	}
	checked = Checked{Text: text, ProjectConfig: v1.ProjectConfig(object), ResourceNames: resourceNames(object), Declared: declared(object)}
	if checked.Digest, err = digestOf(checked); err != nil {
		return Checked{}, nil, err
	}
	return checked, object, nil
}

// digestOf is the digest of the text, and of what is written into the project
// beside it.
func digestOf(checked Checked) (string, error) {
	hash := sha256.New()
	hash.Write(checked.Text)
	if len(checked.ProjectConfig) > 0 {
		config, err := json.Marshal(checked.ProjectConfig)
		if err != nil {
			return "", fmt.Errorf("the values of the config: %w", err)
		}
		hash.Write(config)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), nil
}

// resourceNames are the names of those of a program: what is no section has none.
func resourceNames(object map[string]any) map[string]bool {
	found := map[string]bool{}
	entries, _ := object["resources"].(map[string]any)
	for name := range entries {
		found[name] = true
	}
	return found
}
