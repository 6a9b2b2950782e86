// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
)

// withGoals calls the CLI for a preview that saves its plan, from which the keyed hashes of
// the secret values are taken, and the secrets to mask. The plan has them in plain text. It
// goes through a pipe and never reaches a file, even if this process is killed.
func (s *session) withGoals(ctx context.Context, preview ...string) (exit, error) {
	s.goals = nil
	pipe := s.dir.planPipe()
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		return exit{}, workspaceError{fmt.Errorf("making a pipe for the plan: %w", err)}
	}
	defer func() { _ = os.Remove(pipe) }() // it goes with the directory at the latest
	// Without a writer of its own, the reader would wait for the CLI to begin, which may
	// never do so.
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		return exit{}, workspaceError{fmt.Errorf("opening a pipe for the plan: %w", err)}
	}
	defer func() { _ = writer.Close() }()
	from, err := os.Open(pipe)
	if err != nil {
		return exit{}, workspaceError{fmt.Errorf("opening a pipe for the plan: %w", err)}
	}
	defer func() { _ = from.Close() }() // only read

	var read *goals
	var readErr error
	reader := crash.Go(func() {
		read, readErr = readGoals(from, s.valueReader())
		_, _ = io.Copy(io.Discard, from) // the CLI must not wait for ever
	})
	last, err := s.withEvents(ctx, append(preview, "--save-plan="+pipe, "--show-secrets")...)
	_ = writer.Close() // the reader gets to the end, as the CLI is gone
	reader.Wait()
	if err != nil || last.code != 0 {
		return last, err
	}
	if readErr != nil {
		return last, readErr
	}
	s.goals = read
	s.mask.AddSecrets(read.secrets.Values())
	return last, nil
}
