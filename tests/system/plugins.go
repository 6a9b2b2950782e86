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

// plugins are the providers and the language of tests/lab, as Pulumi looks for them
// among its plugins, and the programs that they are. The versions are those of the
// programs.
func plugins() map[string]string {
	const lab, standIn = "pulumi-resource-lab", "pulumi-resource-standin"
	return map[string]string{
		"language-lab-v0.1.0":         "pulumi-language-lab",
		"resource-lab-v0.1.0":         lab,
		"resource-aws-v5.42.0":        standIn,
		"resource-gcp-v6.67.0":        standIn,
		"resource-kubernetes-v4.18.0": standIn,
		"resource-random-v4.16.0":     standIn,
	}
}

// installPlugins puts the providers among the plugins of the controller, as an
// administrator would: on PATH Pulumi would warn of them with each diagnostic.
// One that is not built is left out, for the demo needs the lab alone.
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
