// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"
)

// mainOf returns the file that Pulumi reads the program of a project from. It is in the
// directory of the project or in the one that main names, directly or through a file in
// it.
func mainOf(project string, fields map[string]any) (string, error) {
	dir := filepath.Dir(project)
	if main, _ := fields["main"].(string); main != "" {
		if !filepath.IsAbs(main) {
			main = filepath.Join(dir, main)
		}
		info, err := os.Stat(main)
		if err != nil {
			return "", fmt.Errorf("reading main of %s: %w", project, err)
		}
		if dir = main; !info.IsDir() {
			dir = filepath.Dir(main)
		}
	}
	isElsewhere := dir != filepath.Dir(project)
	names := []string{"Main.json", "Main.yaml"}
	if isElsewhere {
		names = append(names, "Pulumi.yaml")
	}
	for _, name := range names {
		main := filepath.Join(dir, name)
		if info, err := os.Stat(main); err == nil && info.Mode().IsRegular() {
			return main, nil
		}
	}
	if isElsewhere {
		return "", fmt.Errorf("main of %s is %s, which has neither a Main.yaml nor a Pulumi.yaml", project, dir)
	}
	return filepath.Clean(project), nil
}
