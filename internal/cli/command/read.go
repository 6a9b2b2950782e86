// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"io"
	"os"
)

// readProgramFile reads a file, or stdin for -, up to the maximum size of an object. It
// gives up when ctx ends: a terminal or a named pipe may never send anything.
func (s *session) readProgramFile(ctx context.Context, file string) ([]byte, error) {
	return s.readInput(ctx, "the program", file)
}

// readInput is readProgramFile for what a file has.
func (s *session) readInput(ctx context.Context, what, file string) ([]byte, error) {
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := readBounded(file, s.In)
		done <- read{text, err}
	}()
	var all read
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("reading %s: %w", what, ctx.Err())
	case all = <-done:
	}
	switch {
	case all.err != nil:
		return nil, fmt.Errorf("reading %s: %w", what, all.err)
	case len(all.text) > maxProgram:
		return nil, fmt.Errorf("%s has more than %d bytes, the limit of a Kubernetes object", file, maxProgram)
	}
	return all.text, nil
}

func readBounded(file string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	return io.ReadAll(io.LimitReader(in, maxProgram+1))
}
