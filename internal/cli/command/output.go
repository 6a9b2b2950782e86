// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// exitUnread is the exit code where nobody reads any more what a command prints: what
// a shell tells of a program that the signal for that has ended.
const exitUnread = 128 + 13

// watchedWriter has a command end when what it prints cannot be written any more, as
// that which read it has ended. The command then leaves nothing behind, as after
// Ctrl-C.
type watchedWriter struct {
	io.Writer
	stop context.CancelFunc
	err  error
}

// Write implements io.Writer.
func (w *watchedWriter) Write(text []byte) (int, error) {
	written, err := w.Writer.Write(text)
	if err != nil && w.err == nil {
		w.err = err
		w.stop()
	}
	return written, err
}

// isUnread tells whether an error says that nobody reads any more.
func isUnread(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, errNoData) }
