// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// bareSide is the CLI alone: a directory for each stack, the same PULUMI_HOME for all.
type bareSide struct {
	// dir is where all rounds are, bin where the CLI is.
	dir, bin string
	parallel int

	// State of the round.
	round  string
	stacks int
	shell  shell
}

// prepare writes the programs and creates an empty backend.
func (s *bareSide) prepare(_ context.Context, round string, stacks int) (err error) {
	s.round, s.stacks = filepath.Join(s.dir, round), stacks
	if s.shell, err = newShell(s.bin, s.round, s.parallel); err != nil {
		return err
	}
	return s.write(beforeTheEdit)
}

// write writes the program of every stack.
func (s *bareSide) write(greeting string) error {
	spec, err := program(greeting)
	if err != nil {
		return err
	}
	text, err := spec.Text()
	if err != nil {
		return fmt.Errorf("writing the program: %w", err)
	}
	for n := range s.stacks {
		dir := s.workspace(n)
		if err := errors.Join(
			os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(projectText), 0o600),
			os.WriteFile(filepath.Join(dir, "Main.yaml"), text, 0o600),
		); err != nil {
			return fmt.Errorf("writing the program: %w", err)
		}
	}
	return nil
}

func (s *bareSide) workspace(n int) string { return filepath.Join(s.round, stackName(n)) }

// create creates and updates every stack.
func (s *bareSide) create(ctx context.Context) (span, error) {
	return s.shell.each(ctx, 0, s.stacks, func(n int) error { return s.shell.create(ctx, s.workspace(n), n) })
}

// update edits the program of every stack and updates it.
func (s *bareSide) update(ctx context.Context) (span, error) {
	if err := s.write(afterTheEdit); err != nil {
		return span{}, err
	}
	return s.shell.each(ctx, 0, s.stacks, func(n int) error { return s.shell.up(ctx, s.workspace(n), n) })
}
