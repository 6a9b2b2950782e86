// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

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
	var text planText
	values := s.valueReader()
	reader := readToEnd(from, func() {
		read, readErr = readGoals(io.TeeReader(from, &text), values, s.leastRandom)
		_, _ = io.Copy(&text, from) // what follows the JSON belongs to the plan
	})
	last, err := s.withEvents(ctx, append(preview, "--save-plan="+pipe, "--show-secrets")...)
	_ = writer.Close() // the reader gets to the end, as the CLI is gone
	reader.Wait()
	if err != nil || last.code != 0 {
		return last, err
	}
	if readErr == nil {
		read.tooLarge = text.tooLarge
		readErr = read.readAgain(text.String(), values)
	}
	if readErr == nil && s.planning && s.run.Approved != "" {
		read.text = text.String()
	}
	switch {
	case readErr != nil && s.planning:
		return last, readErr
	case readErr != nil:
		s.unread = cmp.Or(s.unread, readErr) // a preview is shown all the same, without values
		return last, nil
	}
	s.goals = read
	s.mask.AddSecrets(read.secrets.Values())
	return last, nil
}

// readToEnd calls what reads the plan, and reads what it has left, even if it panics: the CLI waits
// until all that it writes is read.
func readToEnd(from io.Reader, read func()) *crash.Goroutine {
	return crash.Go(func() {
		defer func() { _, _ = io.Copy(io.Discard, from) }()
		read()
	})
}

// maxPlanText bounds the plan that is kept in memory, in bytes.
const maxPlanText = 64 << 20

// planText keeps what is written to it, unless that is too large.
type planText struct {
	kept     strings.Builder
	tooLarge bool
}

func (p *planText) Write(text []byte) (int, error) {
	if p.tooLarge = p.tooLarge || p.kept.Len()+len(text) > maxPlanText; p.tooLarge {
		p.kept.Reset()
		return len(text), nil
	}
	return p.kept.Write(text)
}

// String is the text, empty if it was too large.
func (p *planText) String() string { return p.kept.String() }
