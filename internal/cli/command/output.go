// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// exitUnread is the exit code if nobody reads the output any more. It is what a shell
// reports for a program killed by SIGPIPE.
const exitUnread = 128 + 13

// watchedWriter stops the command once its output cannot be written, because the reader
// is gone. The command then cleans up, as after Ctrl-C.
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

// isUnread reports whether an error says that the reader is gone.
func isUnread(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, errNoData) }
