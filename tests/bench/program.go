// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const (
	// programName is also the name of the project.
	programName = "bench"
	outputName  = "greeting"
	// passphrase protects nothing: the stacks have no secrets and live for
	// seconds. Pulumi derives a key from it all the same, as it does for others.
	passphrase     = "correct horse battery staple"
	beforeTheEdit  = "hello"
	afterTheEdit   = "hello again"
	projectText    = "name: " + programName + "\nruntime: yaml\n"
	passphraseName = "PULUMI_CONFIG_PASSPHRASE"
)

// program is as small as one can be: what it costs is what any costs.
func program(greeting string) (v1.ProgramSpec, error) {
	value, err := json.Marshal(greeting)
	if err != nil {
		return v1.ProgramSpec{}, fmt.Errorf("writing the program: %w", err)
	}
	reference, err := json.Marshal("${" + outputName + "}")
	if err != nil {
		return v1.ProgramSpec{}, fmt.Errorf("writing the program: %w", err)
	}
	return v1.ProgramSpec{
		Variables: map[string]v1.Expression{outputName: apiextensionsv1.JSON{Raw: value}},
		Outputs:   map[string]v1.Expression{outputName: apiextensionsv1.JSON{Raw: reference}},
	}, nil
}

// stackName of the nth stack, in both worlds.
func stackName(n int) string { return fmt.Sprintf("stack-%03d", n) }
