// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-analyzer-lab is a policy pack that is an executable. It only serves the policies.
package main

import (
	"fmt"
	"os"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/analyzer"
)

func main() {
	if err := analyzer.Serve(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-analyzer-lab:", err)
		os.Exit(1)
	}
}
