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
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// installing is the progress message while the dependencies are being installed, and
// the start of the message if that fails.
const installing = run.Installing

// yamlRuntime is the runtime of programs in Pulumi YAML.
const yamlRuntime = "yaml"

// needs describes the dependencies of a program.
type needs struct {
	runtime string
	// built is set if the program names a prebuilt executable.
	built bool
	// packages is set if Pulumi.yaml names packages, whose SDKs are generated.
	packages bool
	// main is the directory or the file of the program in the project.
	main string
	// manager is the package manager that the project names, virtualenv the virtual
	// environment for pip.
	manager, virtualenv string
	// options are those of the runtime as JSON, which sorts their names.
	options string
}

// needsOf derives the needs from the project.
func needsOf(project *workspace.Project) needs {
	option := func(name string) string {
		value, _ := project.Runtime.Options()[name].(string)
		return value
	}
	runtime := project.Runtime.Name()
	options, _ := json.Marshal(project.Runtime.Options()) // they come from YAML or JSON
	return needs{
		runtime:    runtime,
		built:      option("binary") != "" && slices.Contains([]string{"go", "dotnet", "java"}, runtime),
		packages:   len(project.Packages) > 0,
		main:       project.Main,
		manager:    cmp.Or(option("packagemanager"), option("toolchain")),
		virtualenv: option("virtualenv"),
		options:    string(options),
	}
}

// errPackages is why packages are not installed when downloads are forbidden: pulumi
// install downloads their plugins, whatever the environment says.
var errPackages = errors.New("the project file of the program names packages, whose plugins would be downloaded, which --acquire-plugins=false forbids: " +
	"keep the SDKs that pulumi install makes of them in the source, and remove packages from Pulumi.yaml")

// needsInstall decides whether to install a program's dependencies before running it.
//
// A YAML program has none but packages, and the CLI would take 0.4 s to find that out.
// When downloads are forbidden, its packages may be in the source, where the language
// host finds them. A prebuilt program does not need the tools of its language, which an
// image may lack.
func needsInstall(r run.Run, n needs, noDownload bool) (bool, error) {
	switch {
	case !r.RunsProgram(), n.runtime == yamlRuntime && (!n.packages || noDownload):
		return false, nil
	case n.packages && noDownload:
		return false, errPackages
	}
	return n.packages || !n.built, nil
}

// install installs the program's dependencies, once per run. It precedes any change in
// a backend, so that its failure leaves nothing to clean up.
func (s *session) install(ctx context.Context) (exit, error) {
	needed, err := needsInstall(s.run, s.needs, s.driver.NoPluginDownload)
	if s.installed || err != nil {
		return exit{}, err
	}
	if !needed {
		return exit{}, s.checkHost()
	}
	root, err := os.OpenRoot(s.dir.Workspace())
	if err != nil {
		return exit{}, workspaceError{fmt.Errorf("opening the workspace: %w", err)}
	}
	defer func() { _ = root.Close() }() // nothing is buffered
	return s.installFrom(ctx, root)
}

// installFrom does what the plan says, and then compares the lock files: most package
// managers update one that is out of date without a word.
func (s *session) installFrom(ctx context.Context, root *os.Root) (exit, error) {
	project, err := filepath.Rel(s.dir.Workspace(), s.program)
	if err != nil {
		return exit{}, workspaceError{err}
	}
	seen := survey(root, filepath.ToSlash(project), s.needs.main, s.driver.toolPath())
	plan, err := planInstall(s.needs, seen)
	if err != nil || plan.nothing {
		return exit{}, err
	}
	s.installing = true
	s.say(installing)
	s.reportProgress(run.Progress{Waiting: installing})
	started := time.Now()
	before := readLocks(root, seen)
	last, err := s.bringDependencies(ctx, root, seen, plan)
	if err != nil || last.code != 0 {
		return last, err
	}
	if err := s.noteChangedLocks(readLocks(root, seen).changedSince(before)); err != nil {
		return exit{}, err
	}
	s.installing, s.installed = false, true
	how := "installed the dependencies of the program"
	switch {
	case s.restored && s.isBuilt:
		how = "copied the compiled program from a snapshot"
	case s.restored:
		how = "copied the dependencies of the program from a snapshot"
	case s.isBuilt:
		how = "installed the dependencies of the program and compiled it"
	}
	s.say(fmt.Sprintf("%s in %s", how, time.Since(started).Round(100*time.Millisecond)))
	s.reportProgress(run.Progress{})
	return last, nil
}

// installBy calls the tool of the plan, and pulumi install if that is not enough, with variables
// that only they get.
func (s *session) installBy(ctx context.Context, plan installPlan, variables ...string) (exit, error) {
	if len(plan.tool) > 0 {
		last, err := s.callInstaller(ctx, command{
			tool: findTool(plan.tool[0], s.driver.toolPath()), args: plan.tool[1:],
			// It holds no lock.
			dir: filepath.Join(s.dir.Workspace(), plan.dir), pids: os.DevNull,
		}, variables...)
		if err != nil || last.stopped || (plan.suffices && last.code == 0) || (plan.only && last.code != 0) {
			return last, err
		}
		if last.code != 0 {
			s.say(fmt.Sprintf("%s failed, and Pulumi installs what is missing: %s", strings.Join(plan.tool, " "),
				installText(last.stdout.masked(s.mask), last.stderr.masked(s.mask), last)))
		}
	}
	// Plugins are left to the engine, which downloads only those in use, and none if that is
	// forbidden.
	return s.callInstaller(ctx, command{
		args: []string{"--non-interactive", "--color=never", "install", "--no-plugins"},
		dir:  s.program, pids: s.dir.pids(),
	}, variables...)
}

// callInstaller calls a command that has nothing to finish when it is asked to stop. What it prints is
// in memory: if the CLI of Pulumi cannot write a line because the disk is full, it no longer reads what
// the language host prints, and waits for ever.
func (s *session) callInstaller(ctx context.Context, c command, variables ...string) (exit, error) {
	c.env = slices.Concat(s.env, variables)
	c.atOnce = true
	c.events = &follower{events: &events{mask: s.mask}, say: s.say}
	var err error
	if c.sandbox, err = s.confineInstaller(); err != nil {
		return exit{}, err
	}
	return s.driver.execute(ctx, c)
}

// noteChangedLocks notes the lock files that did not fit the program. It fails if the Stack
// sets CI, as package managers do that have a way to insist on their lock file. The SDKs that
// are generated for packages may have to be added.
func (s *session) noteChangedLocks(changed []string) error {
	if len(changed) == 0 || s.needs.packages {
		return nil
	}
	refused, text := changedLocksTexts(changed)
	if ci := s.run.Env["CI"]; ci != "" && ci != "0" && ci != "false" {
		return errors.New(refused)
	}
	s.say(text)
	s.warnings = append(s.warnings, bounded.Text(s.mask.Apply(text), maxMessage))
	return nil
}

// changedLocksTexts returns the error of a run that insists on its lock files, and the warning
// of one that does not.
func changedLocksTexts(changed []string) (refused, warning string) {
	files, does, them := strings.Join(changed, " and ")+" of the source", "does", "it"
	if len(changed) > 1 {
		does, them = "do", "them"
	}
	return fmt.Sprintf("%s %s not fit the program, and CI is set: update and commit %s", files, does, them),
		fmt.Sprintf("%s did not fit the program: the installation changed %s, and the program runs with versions that are not in the source. "+
			"Update and commit %s", files, them, them)
}

// checkHost fails if a prebuilt program cannot be run.
func (s *session) checkHost() error {
	if s.run.RunsProgram() && s.needs.runtime == "go" && s.needs.built && findTool("go", s.driver.toolPath()) == "" {
		return errNoGo
	}
	return nil
}
