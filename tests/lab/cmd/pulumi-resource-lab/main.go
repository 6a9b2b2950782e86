// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-resource-lab is the plugin that Pulumi starts for the lab provider. It only starts the provider.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/provider"
)

func main() {
	if err := provider.Serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-resource-lab:", err)
		os.Exit(1)
	}
}
