// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/flux-pulumi/pulumi-controller/internal/readonly"
)

// Directory is the absolute path of the directory of one run, for its exclusive use.
//
//	workspace/     the program: an artifact is unpacked here before Do
//	home/          HOME, and in it .pulumi, which is PULUMI_HOME
//	tmp/           TMPDIR
//	events.jsonl   the events of the engine
//	stdout, stderr the output of the CLI
//	pids           the PIDs of the CLI processes, as in their locks
//	prepared       exists once the workspace of the run was prepared
//	found          what the run has found out about its stack
//	settling       exists while operations in flight are being settled
//	state.json     the state, when it is exported
//	plan           a pipe for the plan of Pulumi, while it is made
//	PulumiPolicy.yaml  ends the search of an installation for one, in a sandbox
//	built/         the program, if the controller has compiled it
//	aside/         code of the workspace, while dependencies are installed
//	identity/      the tokens for clouds, and what leads to them
//	plugins/       the plugins of the run, in a sandbox
//	plugin-step/   a home for installing these for all runs
//	policies/      the policy packs, each in a Directory of its own
type Directory string

// Workspace is where an artifact is unpacked.
func (d Directory) Workspace() string { return filepath.Join(string(d), "workspace") }

// Kube is the default directory of the kubeconfig for programs.
func (d Directory) Kube() string { return filepath.Join(d.home(), ".kube") }

// Identity is where the tokens of the program for clouds are.
func (d Directory) Identity() string { return filepath.Join(string(d), "identity") }

func (d Directory) home() string       { return filepath.Join(string(d), "home") }
func (d Directory) pulumiHome() string { return filepath.Join(d.home(), ".pulumi") }
func (d Directory) temp() string       { return filepath.Join(string(d), "tmp") }
func (d Directory) events() string     { return filepath.Join(string(d), "events.jsonl") }
func (d Directory) stdout() string     { return filepath.Join(string(d), "stdout") }
func (d Directory) stderr() string     { return filepath.Join(string(d), "stderr") }
func (d Directory) pids() string       { return filepath.Join(string(d), "pids") }
func (d Directory) prepared() string   { return filepath.Join(string(d), "prepared") }
func (d Directory) found() string      { return filepath.Join(string(d), "found") }
func (d Directory) settling() string   { return filepath.Join(string(d), "settling") }
func (d Directory) state() string      { return filepath.Join(string(d), "state.json") }
func (d Directory) planPipe() string   { return filepath.Join(string(d), "plan") }
func (d Directory) searchEnd() string  { return filepath.Join(string(d), policyFile) }
func (d Directory) built() string      { return filepath.Join(string(d), "built") }
func (d Directory) aside() string      { return filepath.Join(string(d), "aside") }

// Policy is the directory of a policy pack, with its source in the workspace: what the program
// and the Stack decide is not there.
func (d Directory) Policy(pack int) Directory {
	return Directory(filepath.Join(d.policies(), strconv.Itoa(pack)))
}

// pluginStep is the directory of the step that installs plugins for all runs.
func (d Directory) pluginStep() Directory { return Directory(filepath.Join(string(d), "plugin-step")) }

// plugins are those of the run.
func (d Directory) plugins() string { return filepath.Join(string(d), "plugins") }

// schemas are those of providers that the run has asked for.
func (d Directory) schemas() string { return filepath.Join(string(d), "schemas") }

func (d Directory) policies() string { return filepath.Join(string(d), "policies") }

// of is the directory of another run, a sibling of this one.
func (d Directory) of(id string) Directory {
	return Directory(filepath.Join(filepath.Dir(string(d)), filepath.Base(id)))
}

// Make creates the directories that a run needs, accessible only to this user.
func (d Directory) Make() error {
	for _, path := range []string{d.Workspace(), d.pulumiHome(), d.temp()} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("making the directory of the run: %w", err)
		}
	}
	return nil
}

// probe returns why the directory is not writable. Pulumi itself may end without a word
// if it cannot write its output.
func (d Directory) probe() error {
	path := filepath.Join(string(d), "probe")
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		return errors.Join(fmt.Errorf("writing to the directory of the run: %w", err), remove(path))
	}
	return remove(path)
}

// Clear removes everything that a run put into the directory, but not what its caller
// keeps there.
func (d Directory) Clear() error {
	return errors.Join(d.ClearBulk(), remove(d.events(), d.pids(), d.prepared(), d.found(), d.settling()))
}

// ClearBulk keeps what a recovery needs: the events, the PIDs, what the run has found, and
// how far it had come.
func (d Directory) ClearBulk() error {
	return remove(d.Workspace(), d.home(), d.temp(), d.stdout(), d.stderr(), d.state(), d.planPipe(), d.searchEnd(), d.built(), d.aside(),
		d.policies(), d.Identity(), d.plugins(), d.schemas(), string(d.pluginStep()))
}

func remove(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := readonly.RemoveAll(path); err != nil {
			errs = append(errs, fmt.Errorf("clearing the directory of the run: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Remove removes the directory.
func (d Directory) Remove() error { return readonly.RemoveAll(string(d)) }

// shareCache links directories of PULUMI_HOME, such as plugins, to those shared by all runs,
// so that a plugin is installed once. Pulumi locks an installation with a file beside the
// plugin, which therefore works across runs. The rest of PULUMI_HOME stays private to the run:
// credentials, logs and selected stacks.
func (d Directory) shareCache(cache string, names ...string) error {
	for _, name := range names {
		shared := filepath.Join(cache, name)
		if err := os.MkdirAll(shared, 0o700); err != nil {
			return fmt.Errorf("making the shared cache of plugins: %w", err)
		}
		if err := d.linkInHome(name, shared); err != nil {
			return err
		}
	}
	return nil
}

// linkInHome links a directory of PULUMI_HOME to one elsewhere.
func (d Directory) linkInHome(name, to string) error {
	if err := os.Symlink(to, filepath.Join(d.pulumiHome(), name)); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("linking the plugins and schemas of Pulumi: %w", err)
	}
	return nil
}
