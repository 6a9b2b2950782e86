// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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

// decideSandbox returns whether local runs are in a sandbox, and otherwise what the log says when the
// controller starts, or why it does not start.
func decideSandbox(mode string, kernel sandbox.Kernel) (isOn bool, warning string, err error) {
	switch {
	case mode == lockdown.SandboxOff:
		return false, "local runs have no sandbox, because of --sandbox=off: programs can read the token and the files of the controller and of other runs", nil
	case kernel.Usable():
		return true, "", nil
	case mode == lockdown.SandboxRequired:
		return false, "", errors.New("--sandbox=required: " + kernel.Missing() + ": use another node, or --runner=job")
	}
	return false, "local runs have no sandbox: " + kernel.Missing() + ". Programs can read the token and the files of the controller and of other runs: " +
		"use another node, or --runner=job. --sandbox=off says that this is intended", nil
}

// newSandbox makes the sandbox of local runs, nil for none. bin is the directory of pulumi.
func (b base) newSandbox(bin string) (*sandbox.Sandbox, error) {
	kernel := sandbox.ThisKernel()
	isOn, warning, err := decideSandbox(b.Sandbox, kernel)
	if err != nil {
		return nil, err
	}
	if err := metrics.RegisterSandbox(ctrlmetrics.Registry, isOn); err != nil {
		return nil, err
	}
	if !isOn {
		ctrl.Log.Info(warning)
		return nil, nil
	}
	if err := sandbox.WithholdFiles(); err != nil {
		return nil, err
	}
	ctrl.Log.Info(lockdown.InSandbox, "landlock", kernel.ABI, "signals", kernel.ScopesSignals(), "abstractSockets", kernel.ScopesSockets())
	read := append(linkedPrograms(bin), b.SandboxReadPaths...)
	if self, err := os.Executable(); err == nil { // it is the process of a policy pack
		read = append(read, self)
	}
	for _, path := range absent(b.SandboxReadPaths, b.SandboxWritePaths) {
		ctrl.Log.Info("a listed path of the sandbox does not exist, and programs cannot create it: create it before they need it, or remove it from the flag", "path", path)
	}
	confined := sandbox.New(kernel, read, b.SandboxWritePaths, resolvedAll(ownDirs(b.DataDir)))
	for tool, prefix := range unreachable(append([]string{bin}, toolDirs()...), confined.Rules) {
		ctrl.Log.Info("programs in the sandbox cannot use a language tool, because the rest of it is elsewhere: list its directory in --sandbox-read-paths",
			"tool", tool, "directory", prefix)
	}
	return confined, nil
}

// absent returns the paths that do not exist. The sandbox of a run only has those that are there when it starts.
func absent(lists ...[]string) []string {
	return slices.DeleteFunc(slices.Concat(lists...), func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// languageTools are the commands with which language hosts run programs.
func languageTools() []string {
	return []string{"python3", "python", "node", "npm", "yarn", "pnpm", "bun", "uv", "poetry", "go", "dotnet", "java", "mvn", "gradle"}
}

// unreachable returns the language tools in directories that are links to a place that the rules do not
// allow, each with the directory in which the rest of it is expected. Python would only say "No module
// named 'encodings'".
func unreachable(dirs []string, rules []sandbox.Rule) map[string]string {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Path = resolved(rules[i].Path)
	}
	found := map[string]string{}
	for _, dir := range dirs {
		for _, name := range languageTools() {
			tool := filepath.Join(dir, name)
			real, err := filepath.EvalSymlinks(tool)
			if err != nil {
				continue // it is not there
			}
			prefix := filepath.Dir(real)
			if filepath.Base(prefix) == "bin" {
				prefix = filepath.Dir(prefix)
			}
			if _, ok := sandbox.Allowed(rules, prefix); !ok && real != tool {
				found[tool] = prefix
			}
		}
	}
	return found
}

// ownDirs are the directories of the controller that no program gets as a whole. Beside them, the data directory may have what is not
// the controller's, such as the states of a file backend on the same volume.
func ownDirs(data string) []string {
	own := []string{"/var/run/secrets", "/run/secrets"}
	for _, name := range []string{"runs", "plugins", "plugins-not-shared", "schemas", "provider-schemas", "dependencies", "lock"} {
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
