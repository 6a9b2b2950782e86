// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-resource-standin is the plugin of every package that has a stand-in. Its
// own file name selects the package: as pulumi-resource-aws it stands in for aws. It only
// starts the provider.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/standin"
)

func main() {
	if err := run(context.Background(), filepath.Base(os.Args[0])); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-resource-standin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string) error {
	pkg, err := standin.Find(strings.TrimPrefix(program, "pulumi-resource-"))
	if err != nil {
		return err
	}
	if pkg.Start != nil {
		if err := pkg.Start(); err != nil {
			return err
		}
	}
	provider, err := standin.New(pkg)
	if err != nil {
		return err
	}
	return provider.Run(ctx, pkg.Name, pkg.Version)
}
