// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// A pipe that nobody writes to blocks whoever opens it in the kernel, as a file of an NFS server that is gone does.
func TestAVolumeThatDoesNotAnswerHoldsUpNoRun(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	store := NewReadOnly(t.TempDir())
	path := store.path(id("apps", "a"))
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
	g.Expect(unix.Mkfifo(path, 0o600)).To(Succeed())
	t.Cleanup(func() {
		pipe, err := os.OpenFile(path, os.O_RDWR, 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pipe.Close()).To(Succeed())
	})
	root := workspace(t, nil)
	store.patience = time.Millisecond
	_, err := store.Restore(t.Context(), id("apps", "a"), root)
	g.Expect(err).To(MatchError("reading a dependency snapshot: its volume does not answer"), "the run installs")

	store.patience = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	cancelled := errors.New("the run was cancelled")
	cancel(cancelled)
	_, err = store.Restore(ctx, id("apps", "a"), root)
	g.Expect(err).To(MatchError(cancelled))
}

func TestWhichSnapshotsAreRemoved(t *testing.T) {
	g := NewWithT(t)
	for err, want := range map[error]bool{
		ErrCorrupt: true,
		fmt.Errorf("%w: %w", ErrPartial, io.ErrUnexpectedEOF): true,
		// Another client of NFS has replaced it.
		fmt.Errorf("%w: %w", ErrPartial, &os.PathError{Err: unix.ESTALE}): false,
		errAway: false,
	} {
		g.Expect(IsUseless(err)).To(Equal(want), err.Error())
	}
}

func TestWritingASnapshotEndsWithTheRun(t *testing.T) {
	g := NewWithT(t)
	store, root := open(t, roomy), workspace(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	put(t, root, map[string]string{"a": "1"})
	g.Expect(store.Save(ctx, id("apps", "a"), root, []string{"a"})).To(MatchError(context.Canceled))
	g.Expect(store.Restore(t.Context(), id("apps", "a"), root)).To(BeFalse())
}
