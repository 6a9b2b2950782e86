// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// The directory of a run itself is only read by its processes: this process follows the names in it,
// and a program could put a link to a file of another run in the place of one.

// runRules are the rules for the processes of a run.
func (s *session) runRules() []sandbox.Rule {
	return slices.Concat(s.dir.rules(len(s.run.Policies)), s.driver.sharedRules(s.run), s.goCacheRules(sandbox.Read))
}

// confineInstaller returns the rules for an installation of dependencies. `pulumi install` looks for a
// policy pack in every parent of the program, and fails at the first that it cannot list: it ends the
// search at this file, and then installs what the project needs, which is nearer.
func (s *session) confineInstaller() ([]sandbox.Rule, error) {
	if s.driver.Sandbox == nil {
		return nil, nil
	}
	if err := os.WriteFile(s.dir.searchEnd(), nil, 0o600); err != nil {
		return nil, workspaceError{fmt.Errorf("making a file for Pulumi: %w", err)}
	}
	return slices.Concat(s.dir.rules(0), s.driver.sharedRules(s.run), s.goCacheRules(sandbox.Write)), nil
}

// rules are those for the directory of a run with that many policy packs. The code of the packs is not
// the program's to change.
func (d Directory) rules(packs int) []sandbox.Rule {
	all := slices.Concat(
		sandbox.Reads(string(d)),
		sandbox.Writes(d.Workspace(), d.home(), d.temp(), d.built(), d.plugins(), d.schemas()),
		sandbox.Fills(d.planPipe()),
	)
	for n := range packs {
		all = append(all, sandbox.Writes(d.Policy(n).home(), d.Policy(n).temp())...)
	}
	// The SDK of an image.
	for dir := filepath.Dir(string(d)); ; dir = filepath.Dir(dir) {
		all = append(all, sandbox.Reads(filepath.Join(dir, "node_modules"))...)
		if dir == filepath.Dir(dir) {
			return all
		}
	}
}

// sharedRules are those for what runs share.
func (d *Driver) sharedRules(r run.Run) []sandbox.Rule {
	// No run writes what others execute, nor a schema, which decides what Pulumi YAML passes to a provider.
	shared := slices.Concat(sandbox.Reads(d.sharedPlugins(), d.sharedSchemas()), d.systemRules())
	return append(shared, backendRules(r.Backend)...)
}

// systemRules are those for what the image and the platform bring beside the system.
func (d *Driver) systemRules() []sandbox.Rule {
	var all []sandbox.Rule
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		all = append(all, sandbox.Reads(filepath.SplitList(d.PassEnv[name])...)...)
	}
	return append(all, sandbox.Reads(d.toolPath()...)...)
}

// backendRules are those for the directory of a backend. Whoever writes the Stack names it, so that
// it is only that of Pulumi in it, and none that the sandbox keeps.
func backendRules(backend string) []sandbox.Rule {
	dir := stateDir(backend)
	if dir == "" {
		return nil
	}
	return []sandbox.Rule{{Path: filepath.Dir(dir), Access: sandbox.List, Foreign: true}, {Path: dir, Access: sandbox.Write, Foreign: true}}
}

// stateDir is where Pulumi writes in the directory of a backend, "" for a backend elsewhere or in the
// directory of the run.
func stateDir(backend string) string {
	location, err := url.Parse(backend)
	if err != nil || location.Scheme != "file" || !filepath.IsAbs(location.Path) || location.Host != "" {
		return ""
	}
	return filepath.Join(location.Path, ".pulumi")
}

// goCacheRules are those for the cache of Go of the namespace.
func (s *session) goCacheRules(access sandbox.Access) []sandbox.Rule {
	if s.goCache == nil {
		return nil
	}
	return []sandbox.Rule{{Path: s.goCache.Dir, Access: access}}
}

// confine makes the files that the CLI fills outside of what it may change, and returns the rules for it.
func (s *session) confine(files ...string) ([]sandbox.Rule, error) {
	if s.driver.Sandbox == nil {
		return nil, nil
	}
	if dir := stateDir(s.run.Backend); dir != "" {
		_ = os.Mkdir(dir, 0o777) // Pulumi says why it cannot use the backend
	}
	for _, path := range files {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, workspaceError{fmt.Errorf("making a file for Pulumi: %w", err)}
		}
		_ = file.Close() // nothing was written
	}
	return append(s.runRules(), sandbox.Fills(files...)...), nil
}
