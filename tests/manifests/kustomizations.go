// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
)

// Kustomizations returns the directories of config/ that a user can apply, those with a kustomization.yaml, as paths
// from the root of the repository. It returns components separately.
func Kustomizations(root string) (dirs, components []string, err error) {
	err = filepath.WalkDir(filepath.Join(root, "config"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "kustomization.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		if strings.Contains(string(text), "\nkind: Component\n") {
			components = append(components, dir)
			return nil
		}
		dirs = append(dirs, dir)
		return nil
	})
	return dirs, components, err
}

// BuildAsFlux builds a directory of config/ as kustomize-controller does for a Kustomization with these components:
// it adds them to the existing kustomization.yaml, so that they see the resources before that file changes anything.
// scratch must be empty.
func BuildAsFlux(ctx context.Context, root, scratch, dir string, components ...string) (Unit, error) {
	if err := os.CopyFS(filepath.Join(scratch, "config"), os.DirFS(filepath.Join(root, "config"))); err != nil {
		return Unit{}, err
	}
	file := filepath.Join(scratch, dir, "kustomization.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return Unit{}, err
	}
	text = append(text, "components:\n"...)
	for _, component := range components {
		path, err := filepath.Rel(dir, component)
		if err != nil {
			return Unit{}, err
		}
		text = fmt.Appendf(text, "  - %s\n", path)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return Unit{}, err
	}
	built, err := controlplane.Kustomize(ctx, filepath.Join(scratch, dir))
	return Unit{Name: fmt.Sprintf("a Flux Kustomization of %s with %s", dir, strings.Join(components, " with ")), Text: string(built)}, err
}

// Build runs kustomize on a directory of the repository with the components on top. scratch must be empty.
func Build(ctx context.Context, root, scratch, dir string, components ...string) (Unit, error) {
	name := strings.Join(append([]string{dir}, components...), " with ")
	if len(components) == 0 {
		text, err := controlplane.Kustomize(ctx, filepath.Join(root, dir))
		return Unit{Name: name, Text: string(text)}, err
	}
	// kustomize requires relative paths, and resolves symbolic links before it checks them.
	scratch, err := filepath.EvalSymlinks(scratch)
	if err != nil {
		return Unit{}, err
	}
	relative := func(path string) string {
		if err != nil {
			return ""
		}
		path, err = filepath.Rel(scratch, filepath.Join(root, path))
		return path
	}
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n" + fmt.Sprintf("  - %s\n", relative(dir)) + "components:\n"
	for _, component := range components {
		text += fmt.Sprintf("  - %s\n", relative(component))
	}
	if err != nil {
		return Unit{}, err
	}
	if err := os.WriteFile(filepath.Join(scratch, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		return Unit{}, err
	}
	built, err := controlplane.Kustomize(ctx, scratch)
	return Unit{Name: name, Text: string(built)}, err
}
