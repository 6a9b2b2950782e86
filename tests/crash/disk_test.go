// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// smallDisk starts a system whose data directory is a file system of 8 MiB.
func smallDisk(t *testing.T) *system.System {
	dir := tempDir(t)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", data, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("a file system cannot be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(data, 0); err != nil {
			t.Errorf("unmounting %s: %v", data, err)
		}
	})
	return startIn(t, system.Options{Dir: dir, ControlPlane: shared})
}

// fill writes until there is no space left.
func fill(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, io.LimitReader(zeros{}, 64<<20))
	closeErr := file.Close()
	if !errors.Is(err, unix.ENOSPC) {
		return errors.Join(errors.New("the disk is not full"), err)
	}
	return closeErr
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// checkWorkspaceFailed checks that the Stack says so, and that the controller
// lives, also when it is started on such a disk.
func (u *subject) checkWorkspaceFailed(ctx context.Context, why string) {
	u.Expect(u.awaitReason(ctx, v1.WorkspaceFailedReason)).To(ContainSubstring(why))
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed())
	u.Expect(u.s.Controller.Stop()).To(Succeed())
	u.Expect(u.s.Controller.Wait()).To(Succeed())
	u.Expect(u.s.StartController()).To(Succeed())
	failures := u.stack(ctx).Status.Failures
	u.Eventually(func() int64 { return u.stack(ctx).Status.Failures }).Should(BeNumerically(">", failures), u.report(ctx))
	u.Expect(u.awaitReason(ctx, v1.WorkspaceFailedReason)).To(ContainSubstring(why))
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed())
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, smallDisk(t), "full")
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	ballast := filepath.Join(u.s.DataDir(), "ballast")
	u.Expect(fill(ballast)).To(Succeed())
	u.edit(ctx, quick(3, "two"))
	u.checkWorkspaceFailed(ctx, "no space left on device")
	u.Expect(os.Remove(ballast)).To(Succeed())
	u.awaitCurrent(ctx)
	u.checkExact()
	u.remove(ctx)
	u.checkDestroyed()
}

// A directory in whose place there is a file cannot be written, not even by root.
func TestWorkDirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "unwritable")
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	runs := filepath.Join(u.s.DataDir(), "runs")
	u.Expect(os.RemoveAll(runs)).To(Succeed())
	u.Expect(os.WriteFile(runs, nil, 0o600)).To(Succeed())
	u.edit(ctx, quick(3, "two"))
	u.checkWorkspaceFailed(ctx, "not a directory")
	u.Expect(os.Remove(runs)).To(Succeed())
	u.awaitCurrent(ctx)
	u.checkExact()
}

// The disk fills up while Pulumi is at work. What it has done is known all the
// same: the state is in the backend.
func TestDiskThatFillsUpInMidRun(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, smallDisk(t), "filling")
	all := append(slow("2s"), quick(2, "one")...)
	u.create(ctx, all, nil)
	u.awaitBegun(ctx, "create", "slow")
	ballast := filepath.Join(u.s.DataDir(), "ballast")
	u.Expect(fill(ballast)).To(Succeed())
	u.Eventually(func() bool { return u.stack(ctx).Status.LastUpdate != nil }).Should(BeTrue(), u.report(ctx))
	t.Logf("what the Stack says: %s", strings.TrimSpace(u.stack(ctx).Status.LastUpdate.Message))
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed())
	u.Expect(os.Remove(ballast)).To(Succeed())
	u.awaitCurrent(ctx)
	u.checkExact()
}
