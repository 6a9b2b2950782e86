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

// Checked is the result of checking a Program.
type Checked struct {
	// Text is what Pulumi reads, and Digest covers everything that the Program says. Both
	// are empty if the Program cannot be written as YAML.
	Text   []byte
	Digest string
	// ProjectConfig are the config values for providers, by name, that have no type.
	ProjectConfig map[string]any
	// TypedConfig are those with a type, which are in the text, too. For a Stack whose
	// project is their namespace, they are the program's own: see ConfigIn.
	TypedConfig map[string]any
	// ResourceNames are the names of its resources.
	ResourceNames map[string]bool
	// Declared are the config values that it takes.
	Declared []Declared
	// Packages are the versions of packages, by package name.
	Packages map[string]string
	// Invalid lists the faults that keep it from running at all.
	Invalid Faults
	// OfProviders lists, by namespace, the faults of config values that are a provider's
	// unless the project of the Stack is their namespace.
	OfProviders map[string]Faults
	// SandboxViolations lists what it would reach outside its project if run on the
	// controller's own machine.
	SandboxViolations Faults
	// Undeclared are the names that it refers to without declaring them. The config of a
	// Stack must have each of them.
	Undeclared []string
	// Resources is the number of resources it declares.
	Resources int
}

// maxSize bounds a program in bytes. A Kubernetes object is not bigger.
const maxSize = 3 << 20

// Read converts the program of a Program, in JSON, to the text that Pulumi reads, and
// also returns the decoded JSON. It does not check whether Pulumi can run it.
func Read(raw []byte) (checked Checked, object map[string]any, err error) {
	if len(raw) > maxSize {
		return Checked{}, nil, fmt.Errorf("it has %d bytes, the limit is %d", len(raw), maxSize)
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return Checked{}, nil, err
	}
	if object == nil {
		// Running it would delete everything that a Stack has created, and it is more
		// likely a mistake than an explicit {}.
		return Checked{}, nil, errors.New("it is missing or null: a program without resources has resources: {}")
	}
	text, err := v1.ProgramText(raw)
	if err != nil {
		return Checked{}, nil, err
	}
	checked = Checked{Text: text, ProjectConfig: v1.ProjectConfig(object), TypedConfig: typedConfig(object), ResourceNames: resourceNames(object), Declared: declared(object)}
	if checked.Digest, err = digestOf(checked); err != nil {
		return Checked{}, nil, err
	}
	return checked, object, nil
}

// digestOf returns the digest of the text and of the provider config that is not in the
// text, but in the project file only.
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

// resourceNames returns the names of the resources of a program, none if the section is
// malformed.
func resourceNames(object map[string]any) map[string]bool {
	found := map[string]bool{}
	entries, _ := object["resources"].(map[string]any)
	for name := range entries {
		found[name] = true
	}
	return found
}
