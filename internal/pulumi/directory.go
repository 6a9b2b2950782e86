// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Directory is the absolute path of the directory of one run. Nothing else may
// use it.
//
//	workspace/     the program: an artifact is unpacked here before Do
//	home/          HOME, and in it .pulumi, which is PULUMI_HOME
//	tmp/           TMPDIR
//	events.jsonl   what the engine tells
//	stdout, stderr what the CLI prints
//	pids           the numbers of the CLI processes, as they stand in a lock
//	backend        what may be told of the backend
//	settling       is there while what was in flight in the stack is being settled
//	state.json     the state, when it is looked into
type Directory string

// Workspace is where an artifact is unpacked.
func (d Directory) Workspace() string { return filepath.Join(string(d), "workspace") }

// Kube is where programs look for a kubeconfig that nothing else names.
func (d Directory) Kube() string { return filepath.Join(d.home(), ".kube") }

func (d Directory) home() string       { return filepath.Join(string(d), "home") }
func (d Directory) pulumiHome() string { return filepath.Join(d.home(), ".pulumi") }
func (d Directory) temp() string       { return filepath.Join(string(d), "tmp") }
func (d Directory) events() string     { return filepath.Join(string(d), "events.jsonl") }
func (d Directory) stdout() string     { return filepath.Join(string(d), "stdout") }
func (d Directory) stderr() string     { return filepath.Join(string(d), "stderr") }
func (d Directory) pids() string       { return filepath.Join(string(d), "pids") }
func (d Directory) backend() string    { return filepath.Join(string(d), "backend") }
func (d Directory) settling() string   { return filepath.Join(string(d), "settling") }
func (d Directory) state() string      { return filepath.Join(string(d), "state.json") }

// of returns the directory of another run, which lies beside this one.
func (d Directory) of(id string) Directory {
	return Directory(filepath.Join(filepath.Dir(string(d)), filepath.Base(id)))
}

// Make makes the directories that a run needs, for nobody but this user.
func (d Directory) Make() error {
	for _, path := range []string{d.Workspace(), d.pulumiHome(), d.temp()} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fmt.Errorf("making the directory of the run: %w", err)
		}
	}
	return nil
}

// probe tells why nothing can be written here. Pulumi itself may end without a word
// when its output has nowhere to go.
func (d Directory) probe() error {
	path := filepath.Join(string(d), "probe")
	if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
		return errors.Join(fmt.Errorf("writing to the directory of the run: %w", err), remove(path))
	}
	return remove(path)
}

// Clear removes all that a run put into the directory, but not what its caller
// keeps there.
func (d Directory) Clear() error {
	return errors.Join(d.ClearBulk(), remove(d.events(), d.pids(), d.backend(), d.settling()))
}

// ClearBulk leaves what a recovery from the run would read: its events, the numbers
// of its processes, its backend, and whether it was settling the stack.
func (d Directory) ClearBulk() error {
	return remove(d.Workspace(), d.home(), d.temp(), d.stdout(), d.stderr(), d.state())
}

func remove(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := removeAll(path); err != nil {
			errs = append(errs, fmt.Errorf("clearing the directory of the run: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Remove removes all of it.
func (d Directory) Remove() error { return removeAll(string(d)) }

// removeAll removes what a run has written, whatever rights that has: Go's cache of modules
// is directories that cannot be written to.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walked := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return os.Chmod(path, 0o700)
	})
	return errors.Join(walked, os.RemoveAll(path))
}

// shareCache makes plugins and schemas links into the directory that all runs
// share, so that a plugin is installed once. Pulumi locks an installation by a
// file beside the plugin, which therefore works across runs. Credentials, logs
// and selected stacks, the rest of PULUMI_HOME, stay private to the run.
func (d Directory) shareCache(cache string) error {
	for _, name := range []string{"plugins", "schemas"} {
		shared, link := filepath.Join(cache, name), filepath.Join(d.pulumiHome(), name)
		if err := os.MkdirAll(shared, 0o700); err != nil {
			return fmt.Errorf("making the shared cache of plugins: %w", err)
		}
		if err := os.Symlink(shared, link); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("linking the shared cache of plugins: %w", err)
		}
	}
	return nil
}
