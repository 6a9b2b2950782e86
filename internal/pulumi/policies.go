// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/analyzer"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// policyPack is a policy pack that Pulumi can load.
type policyPack struct {
	run.PolicyPack
	// path is the executable that Pulumi starts: see package analyzer.
	path string
	// config is the file with the config of the policies.
	config string
	// dir is the directory of the pack, and starting the file that is there while it starts.
	dir      Directory
	starting string
}

// packFailed is the error of a run whose pack cannot be used: without it, the run would not be
// guarded.
func packFailed(pack run.PolicyPack, err error) error {
	return &run.OutcomeError{Outcome: run.PolicyPackFailed, Err: fmt.Errorf("%s: %w", pack.Title(), err)}
}

// preparePacks installs the policy packs, before anything of the program is started.
func (s *session) preparePacks(ctx context.Context) error {
	if !s.run.LoadsPolicies() {
		return nil
	}
	executable, err := os.Executable()
	if err != nil {
		return workspaceError{err}
	}
	for n, pack := range s.run.Policies {
		prepared, err := s.preparePack(ctx, n, pack, executable)
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
			s.unready = pack.Title() + " was being installed"
		}
		if err != nil {
			return packFailed(pack, err)
		}
		s.packs = append(s.packs, prepared)
	}
	return nil
}

func (s *session) preparePack(ctx context.Context, n int, pack run.PolicyPack, executable string) (*policyPack, error) {
	dir := s.dir.Policy(n)
	if err := dir.Make(); err != nil {
		return nil, workspaceError{err}
	}
	root, err := os.OpenRoot(dir.Workspace())
	if err != nil {
		return nil, workspaceError{err}
	}
	defer func() { _ = root.Close() }() // nothing is buffered
	project, err := readPack(root, pack.Artifact.Dir)
	if err != nil {
		return nil, err
	}
	launch, err := s.launch(ctx, n, pack, root, project)
	if err != nil {
		return nil, err
	}
	if err := project.setVersion(root, packVersion(pack)); err != nil {
		return nil, err
	}
	prepared := &policyPack{
		PolicyPack: pack,
		path:       filepath.Join(launch.Dir, analyzer.Name(n)),
		config:     filepath.Join(string(dir), "config.json"),
		dir:        dir, starting: filepath.Join(dir.temp(), "starting"),
	}
	launch.Starting, launch.Patience = prepared.starting, cmp.Or(s.driver.PackStart, defaultPackStart)
	config := pack.Config
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	err = errors.Join(launch.Place(executable, prepared.path), os.WriteFile(prepared.config, config, 0o600))
	if err != nil {
		return nil, workspaceError{err}
	}
	return prepared, nil
}

// launch installs what a pack needs, and returns how to start it.
func (s *session) launch(ctx context.Context, n int, pack run.PolicyPack, root *os.Root, project packProject) (analyzer.Launch, error) {
	p := s.packSession(n, pack, project)
	launch := analyzer.Launch{Dir: p.program, Env: p.env, Options: project.runtime.Options()}
	if p.needs.built {
		var err error
		launch.Program, err = project.executable(root)
		return launch, err
	}
	host := "pulumi-language-" + p.needs.runtime
	if launch.Host = findTool(host, s.driver.toolPath()); launch.Host == "" {
		return launch, fmt.Errorf("it needs %s, and %s", host, run.MissingLanguage)
	}
	s.reportProgress(run.Progress{Waiting: run.InstallingPolicies})
	defer s.reportProgress(run.Progress{})
	defer p.leaveGoCache()
	last, err := p.install(ctx)
	switch cause := context.Cause(ctx); {
	case cause != nil && (last.stopped || errors.Is(err, cause)):
		return launch, cause
	case err != nil || last.code != 0:
		return launch, p.installError(last, err)
	}
	s.warnings = append(s.warnings, p.warnings...)
	if launch.Env = p.env; p.isBuilt {
		launch.Program = filepath.Join(p.dir.built(), builtProgram)
	}
	return launch, nil
}

// packSession is a session that installs a pack as a program would be installed, in directories of
// its own and without the variables of the Stack.
func (s *session) packSession(n int, pack run.PolicyPack, project packProject) *session {
	dir := s.dir.Policy(n)
	of := run.Run{
		ID: s.run.ID, Namespace: s.run.Namespace, Name: s.run.Name, Operation: run.Update,
		Program: run.Program{Artifact: &pack.Artifact},
	}
	return &session{
		driver: s.driver, dir: dir, run: of, isPack: true, mask: s.mask, events: &events{mask: s.mask},
		log: func(line string) { s.log(pack.Title() + ": " + line) },
		env: s.driver.packEnvironment(dir, of),
		prepared: &prepared{
			program: filepath.Join(dir.Workspace(), filepath.FromSlash(project.dir)),
			project: run.Project{Runtime: project.runtime.Name()}, needs: project.needs(),
		},
	}
}

// installError is why the dependencies of a pack could not be installed.
func (s *session) installError(last exit, err error) error {
	outcome, message := outcomeOf(s.ending(last, err, nil))
	if outcome == run.WorkspaceFailed {
		return workspaceError{errors.New(message)}
	}
	return errors.New(message)
}

// policyFlags have Pulumi load the packs. Pulumi wants a config for each pack or for none.
func (s *session) policyFlags() []string {
	areConfigured := slices.ContainsFunc(s.packs, func(p *policyPack) bool { return len(p.Config) > 0 })
	var flags []string
	for _, pack := range s.packs {
		flags = append(flags, policyFlag+csvField(pack.path))
		if areConfigured {
			flags = append(flags, "--policy-pack-config="+csvField(pack.config))
		}
	}
	return flags
}

const policyFlag = "--policy-pack="

// csvField quotes a value of a flag that may be a list, in which a comma separates values.
func csvField(value string) string { return `"` + strings.ReplaceAll(value, `"`, `""`) + `"` }

// isGuarded reports whether the current call is an update with policy packs.
func (s *session) isGuarded() bool { return s.updating && len(s.packs) > 0 }

// loadsPacks reports whether a call of the CLI has to load policy packs.
func loadsPacks(operation []string) bool {
	return slices.ContainsFunc(operation, func(flag string) bool { return strings.HasPrefix(flag, policyFlag) })
}

// provePacks fails unless the events of the last call say that Pulumi has loaded each pack. It ends
// without an error if something has kept it from doing so.
func (s *session) provePacks() error {
	for n, pack := range s.packs {
		if s.events.nameOfPack(n) == "" {
			return packFailed(pack.PolicyPack, errors.New("no event of Pulumi says that it was loaded: "+
				"see the log for errors of reading them, and whether the disk of the run was full"))
		}
	}
	return nil
}
