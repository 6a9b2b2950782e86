// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package golang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/flux-pulumi/pulumi-controller/tests/lab/internal/langhost"
)

// GetRequiredPackages returns the plugins that the modules of the program need.
func (h *Host) GetRequiredPackages(
	ctx context.Context, req *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	// It fails in a module with a vendor directory, and without a go.mod: the engine finds out what such a program needs.
	dirs, err := langhost.Output(ctx, req.Info.GetProgramDirectory(), "go", "list", "-m", "-f", "{{.Dir}}", "all")
	if err != nil {
		return &pulumirpc.GetRequiredPackagesResponse{}, nil
	}
	var required []*pulumirpc.PackageDependency
	for _, dir := range strings.Fields(dirs) {
		plugin, err := pluginOf(filepath.Join(dir, "pulumi-plugin.json"))
		if err != nil {
			return nil, err
		}
		if plugin != nil {
			required = append(required, plugin)
		}
	}
	return &pulumirpc.GetRequiredPackagesResponse{Packages: required}, nil
}

// pluginOf is nil if the module needs none.
func pluginOf(path string) (*pulumirpc.PackageDependency, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var plugin struct {
		Resource              bool
		Name, Version, Server string
	}
	if err := json.Unmarshal(text, &plugin); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if !plugin.Resource {
		return nil, nil
	}
	return &pulumirpc.PackageDependency{Kind: "resource", Name: plugin.Name, Version: plugin.Version, Server: plugin.Server}, nil
}
