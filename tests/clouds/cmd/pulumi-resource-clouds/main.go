// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-resource-clouds is the plugin of a provider that calls clouds with their real SDKs. It only starts the
// provider.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/flux-pulumi/pulumi-controller/tests/clouds/internal/caller"
)

func main() {
	if err := caller.Serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-resource-clouds:", err)
		os.Exit(1)
	}
}
