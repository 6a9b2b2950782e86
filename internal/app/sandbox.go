// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// validateSandbox refuses paths that would open the sandbox.
func (c Config) validateSandbox() error {
	if c.Sandbox != lockdown.SandboxAuto && c.Sandbox != lockdown.SandboxRequired && c.Sandbox != lockdown.SandboxOff {
		return fmt.Errorf("--sandbox must be auto, required or off, not %q", c.Sandbox)
	}
	for _, paths := range []struct {
		flag string
		of   []string
	}{{"--sandbox-read-paths", c.SandboxReadPaths}, {"--sandbox-write-paths", c.SandboxWritePaths}} {
		for _, path := range paths.of {
			if !filepath.IsAbs(path) {
				return fmt.Errorf("%s must be absolute paths, not %q", paths.flag, path)
			}
			if sandbox.Overlaps(resolved(path), resolvedAll(ownDirs(c.DataDir))) {
				return fmt.Errorf("%s: %s is in the directories of the controller, or holds one: name directories without them", paths.flag, path)
			}
		}
	}
	return nil
}

// newSandbox makes the sandbox of local runs, nil for none. bin is the directory of pulumi.
func (b base) newSandbox(bin string) (*sandbox.Sandbox, error) {
	var kernel sandbox.Kernel
	if b.Sandbox != lockdown.SandboxOff {
		kernel = sandbox.ThisKernel()
	}
	if err := metrics.RegisterSandbox(ctrlmetrics.Registry, kernel.Usable()); err != nil {
		return nil, err
	}
	switch {
	case b.Sandbox == lockdown.SandboxOff:
		ctrl.Log.Info("local runs have no sandbox, because of --sandbox=off: programs can read the token and the files of the controller and of other runs")
		return nil, nil
	case !kernel.Usable() && b.Sandbox == lockdown.SandboxRequired:
		return nil, errors.New("--sandbox=required: " + kernel.Missing() + ": use another node, or --runner=job")
	case !kernel.Usable():
		ctrl.Log.Info("local runs have no sandbox: " + kernel.Missing() + ". Programs can read the token and the files of the controller and of other runs: " +
			"use another node, or --runner=job. --sandbox=off says that this is intended")
		return nil, nil
	}
	ctrl.Log.Info("local runs are in a sandbox", "landlock", kernel.ABI, "signals", kernel.ScopesSignals(), "abstractSockets", kernel.ScopesSockets())
	read := append(linkedPrograms(bin), b.SandboxReadPaths...)
	if self, err := os.Executable(); err == nil { // it is the process of a policy pack
		read = append(read, self)
	}
	kept := append([]string{"/bin", "/boot", "/dev", "/etc", "/lib", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr"}, resolvedAll(ownDirs(b.DataDir))...)
	return sandbox.New(kernel, read, b.SandboxWritePaths, kept), nil
}

// ownDirs are the directories of the controller that no program gets as a whole. Beside them, the data directory may have what is not
// the controller's, such as the states of a file backend on the same volume.
func ownDirs(data string) []string {
	own := []string{"/var/run/secrets", "/run/secrets"}
	for _, name := range []string{"runs", "plugins", "schemas", "dependencies", "lock"} {
		own = append(own, filepath.Join(data, name))
	}
	return own
}

func resolvedAll(paths []string) []string {
	all := make([]string, 0, len(paths))
	for _, path := range paths {
		all = append(all, resolved(path))
	}
	return all
}

// linkedPrograms are the links in a directory of programs, which may lead elsewhere.
func linkedPrograms(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // starting Pulumi reports it
	}
	var links []string
	for _, entry := range entries {
		if entry.Type()&os.ModeSymlink != 0 {
			links = append(links, filepath.Join(dir, entry.Name()))
		}
	}
	return links
}
