// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// FluxMinor is the first minor version of Flux that a component of config/notifications
// supports.
type FluxMinor string

const (
	// Flux27 is Flux 2.7 and 2.8.
	Flux27 FluxMinor = "2.7"
	// Flux29 is Flux 2.9 and later, the version in bin/.
	Flux29 FluxMinor = "2.9"
)

// NotificationCRDs returns the directory with the CRDs of notification-controller of that
// version of Flux. They do not know Stacks.
func NotificationCRDs(minor FluxMinor) (string, error) {
	if minor == Flux29 {
		return process.FindBin(filepath.Join("crds", "notification-controller"))
	}
	root, err := process.RepoRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "tests", "controlplane", "testdata", "notification-controller-v1.8.4"), nil
}

// BuildNotifications fills dir like a user's flux-system directory, with the CRDs of that
// version and the matching component of config/notifications. It returns the file with
// the output of kustomize: the CRDs that know Stacks and Programs, and the rights of
// notification-controller on these. dir must exist and be empty.
func BuildNotifications(ctx context.Context, dir string, crds, component FluxMinor) (path string, err error) {
	// kustomize requires relative paths, and resolves links first.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	root, err := process.RepoRoot()
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(dir, filepath.Join(root, "config", "notifications", "flux-"+string(component)))
	if err != nil {
		return "", err
	}
	components, err := gotkComponents(crds)
	if err != nil {
		return "", err
	}
	kustomization := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" +
		"resources: [gotk-components.yaml]\ncomponents: [" + relative + "]\n"
	for name, content := range map[string][]byte{"gotk-components.yaml": components, "kustomization.yaml": []byte(kustomization)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return "", err
		}
	}
	built, err := Kustomize(ctx, dir)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "built.yaml")
	return path, os.WriteFile(path, built, 0o644)
}

// gotkComponents returns the part of the output of flux install that matters to these
// tests.
func gotkComponents(minor FluxMinor) ([]byte, error) {
	dir, err := NotificationCRDs(minor)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the CRDs of notification-controller: %w", err)
	}
	var all []byte
	for _, entry := range entries {
		crd, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the CRDs of notification-controller: %w", err)
		}
		all = append(append(all, "\n---\n"...), crd...)
	}
	return all, nil
}

// Kustomize returns the output of kubectl kustomize for the directory.
func Kustomize(ctx context.Context, dir string) ([]byte, error) {
	kubectl, err := process.FindBin("kubectl")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, kubectl, "kustomize", dir)
	command.Env = environment(dir)
	output, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("building %s: %s", dir, failed.Stderr)
	}
	return output, err
}
