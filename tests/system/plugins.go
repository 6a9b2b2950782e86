// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// plugins maps the providers and the language of tests/lab, and the provider of tests/clouds, by the names under which
// Pulumi looks for its plugins, to their programs. The versions are those of the
// programs.
func plugins() map[string]string {
	const lab, standIn = "pulumi-resource-lab", "pulumi-resource-standin"
	return map[string]string{
		"language-lab-v0.1.0":           "pulumi-language-lab",
		"resource-lab-v0.1.0":           lab,
		"resource-clouds-v0.1.0":        "pulumi-resource-clouds",
		"resource-aws-v5.42.0":          standIn,
		"resource-gcp-v6.67.0":          standIn,
		"resource-command-v1.0.1":       standIn,
		"resource-kubernetes-v4.18.0":   standIn,
		"resource-random-v4.16.0":       standIn,
		"resource-pulumi-nodejs-v0.1.0": standIn,
	}
}

// installPlugins adds the providers to the plugins of the controller, as an administrator
// would: Pulumi warns of plugins on PATH with each diagnostic. It skips those that are
// not built, because the demo only needs the lab.
func installPlugins(dataDir string) error {
	for plugin, program := range plugins() {
		path, err := process.FindBin(filepath.Join("lab", program))
		if err != nil && program != "pulumi-resource-lab" {
			continue
		}
		if err != nil {
			return err
		}
		dir := filepath.Join(dataDir, "plugins", plugin)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("installing the plugin %s: %w", plugin, err)
		}
		name, _, _ := strings.Cut(plugin, "-v")
		if err := os.Symlink(path, filepath.Join(dir, "pulumi-"+name)); err != nil {
			return fmt.Errorf("installing the plugin %s: %w", plugin, err)
		}
	}
	return nil
}
