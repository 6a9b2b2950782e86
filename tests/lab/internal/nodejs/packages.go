// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package nodejs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// manifest is what a package.json says about the plugin that the package needs.
type manifest struct {
	Name, Version string
	Pulumi        struct {
		Resource              bool
		Name, Version, Server string
	}
}

// GetRequiredPackages returns the plugins that the packages in node_modules need.
func (h *Host) GetRequiredPackages(
	_ context.Context, req *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	var required []*pulumirpc.PackageDependency
	for dir := req.Info.GetProgramDirectory(); ; dir = filepath.Dir(dir) {
		for _, pattern := range []string{"*", "@*/*"} {
			found, err := filepath.Glob(filepath.Join(dir, "node_modules", pattern, "package.json"))
			if err != nil {
				return nil, err
			}
			for _, path := range found {
				plugin, err := pluginOf(path)
				if err != nil {
					return nil, err
				}
				if plugin != nil {
					required = append(required, plugin)
				}
			}
		}
		if dir == filepath.Dir(dir) || dir == req.Info.GetRootDirectory() {
			return &pulumirpc.GetRequiredPackagesResponse{Packages: required}, nil
		}
	}
}

// pluginOf is nil if the package needs none.
func pluginOf(path string) (*pulumirpc.PackageDependency, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if !m.Pulumi.Resource {
		return nil, nil
	}
	return &pulumirpc.PackageDependency{
		Kind: "resource", Name: cmp.Or(m.Pulumi.Name, strings.TrimPrefix(m.Name, "@pulumi/")),
		Version: cmp.Or(m.Pulumi.Version, m.Version), Server: m.Pulumi.Server,
	}, nil
}
