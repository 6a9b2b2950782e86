// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-language-nodejs is the plugin that Pulumi starts for programs with the runtime nodejs. It runs them with the
// real Node.js.
package main

import (
	"fmt"
	"os"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/nodejs"
)

func main() {
	// The address of the engine is the last argument.
	if err := langhost.Serve(nodejs.New(os.Args[len(os.Args)-1]), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-language-nodejs:", err)
		os.Exit(1)
	}
}
