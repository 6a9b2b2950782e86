// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-language-go is the plugin that Pulumi starts for programs with the runtime go. It runs them with the
// real Go.
package main

import (
	"fmt"
	"os"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/golang"
	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

func main() {
	// The address of the engine is the last argument.
	if err := langhost.Serve(golang.New(os.Args[len(os.Args)-1]), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-go:", err)
		os.Exit(1)
	}
}
