// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package analyzer is the process that Pulumi starts as a policy pack. It starts the pack, or has
// the host of its language run it, with the environment that the controller has chosen, and ends
// one that does not start in time.
//
// Pulumi itself would start a pack as it starts the program: with all variables of the Stack, such
// as NODE_OPTIONS, which can make a pack find no violations, and in the language host of the
// program, which Pulumi.yaml and variables can replace.
package analyzer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// prefix begins the name under which the executable of this process is an analyzer. Pulumi passes
// a pack no arguments of its own.
const prefix = "pulumi-analyzer-"

// Launch is how to start a policy pack.
type Launch struct {
	// Dir is the directory of the pack, in which it runs.
	Dir string
	// Program is the executable of the pack. Empty if a language host runs it.
	Program string
	// Host is the executable of the language host, and Options are those of the runtime of the
	// pack.
	Host    string
	Options map[string]any
	// Env is the complete environment.
	Env []string
	// Starting is the path of a file that is there while the pack starts.
	Starting string
	// Patience is how long it may take to start.
	Patience time.Duration
}

// Name returns the name under which the executable of this process is a pack.
func Name(pack int) string { return fmt.Sprintf("%s%d", prefix, pack) }

// Place makes this executable a pack, at a path with such a name, that is started as described.
func (l Launch) Place(executable, path string) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("describing a policy pack: %w", err)
	}
	for _, old := range []string{path, description(path)} {
		if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("preparing a policy pack: %w", err)
		}
	}
	if err := os.WriteFile(description(path), text, 0o600); err != nil {
		return fmt.Errorf("preparing a policy pack: %w", err)
	}
	if err := os.Symlink(executable, path); err != nil {
		return fmt.Errorf("preparing a policy pack: %w", err)
	}
	return nil
}

// description is the file with the Launch.
func description(path string) string { return path + ".json" }

// IsAnalyzer reports whether a process was started as a policy pack, by its first argument.
func IsAnalyzer(path string) bool { return strings.HasPrefix(filepath.Base(path), prefix) }

// Run is the process of a policy pack, with all arguments of the process. It returns the exit code.
func Run(ctx context.Context, args []string) (int, error) {
	text, err := os.ReadFile(description(args[0]))
	if err != nil {
		return 1, fmt.Errorf("starting a policy pack: %w", err)
	}
	var l Launch
	if err := json.Unmarshal(text, &l); err != nil {
		return 1, fmt.Errorf("starting a policy pack: %w", err)
	}
	if err := os.Chdir(l.Dir); err != nil {
		return 1, fmt.Errorf("starting a policy pack: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun, err := l.begin(cancel)
	if err != nil {
		return 1, fmt.Errorf("starting a policy pack: %w", err)
	}
	defer begun.end()
	run := l.runInHost
	if l.Program != "" {
		run = l.runProgram
	}
	code, err := run(ctx, args[1:], begun)
	if failed, ok := errors.AsType[*startError](context.Cause(ctx)); ok {
		return 1, failed
	}
	if ctx.Err() != nil {
		return 1, nil // Pulumi has interrupted it, as it does once it needs it no more
	}
	return code, err
}
