// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-language-python is the plugin that Pulumi starts for programs with the runtime python. It installs what
// they need with the real package managers.
package main

import (
	"fmt"
	"os"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/python"
)

func main() {
	// The address of the engine is the last argument.
	if err := langhost.Serve(python.New(os.Args[len(os.Args)-1]), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-python:", err)
		os.Exit(1)
	}
}
