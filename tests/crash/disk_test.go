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
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
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
		// The kernel may still hold it for a process that has just ended.
		NewWithT(t).Eventually(unix.Unmount, patience, interval).WithArguments(data, 0).Should(Succeed())
	})
	return startIn(t, system.Options{Dir: dir, ControlPlane: shared, WritePaths: []string{filepath.Join(data, "cloud")}})
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

// checkWorkspaceFailed checks that the Stack reports it, and that the controller
// survives, and can also start with such a disk.
func (u *subject) checkWorkspaceFailed(ctx context.Context, why string) {
	u.Expect(u.awaitReason(ctx, v1.WorkspaceFailedReason)).To(ContainSubstring(why))
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed())
	u.Expect(u.s.Controller.Stop()).To(Succeed())
	u.Expect(u.s.Controller.Wait()).To(Succeed())
	u.Expect(u.s.StartController()).To(Succeed())
	before := u.stack(ctx).Status.LastUpdate.Name
	u.Eventually(func(g Gomega) {
		stack := u.stack(ctx)
		// At the end of the previous controller, a run may have been recorded but not
		// started.
		lost := stack.Status.Run != nil && strings.HasPrefix(conditions.GetMessage(stack, meta.ReadyCondition), "Cannot determine the outcome of run")
		g.Expect(lost || stack.Status.LastUpdate.Name != before).To(BeTrue(), "this controller has not tried yet")
	}).Should(Succeed(), u.report(ctx))
	u.Expect(u.awaitReason(ctx, v1.WorkspaceFailedReason)).To(ContainSubstring(why))
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed())
}

func TestFullDisk(t *testing.T) {
	short.Skip(t)
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

// A directory replaced by a file is not writable, even for root.
func TestWorkDirectoryThatCannotBeWritten(t *testing.T) {
	short.Skip(t)
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

	// Nor can the lock be taken, without which no run may use the directory.
	away := u.s.DataDir() + ".away"
	u.Expect(os.Rename(u.s.DataDir(), away)).To(Succeed())
	u.Expect(os.WriteFile(u.s.DataDir(), nil, 0o600)).To(Succeed())
	u.edit(ctx, quick(4, "three"))
	u.checkWorkspaceFailed(ctx, "not a directory")
	u.Expect(os.Remove(u.s.DataDir())).To(Succeed())
	u.Expect(os.Rename(away, u.s.DataDir())).To(Succeed())
	u.awaitCurrent(ctx)
	u.checkExact()
}

// The disk fills up while Pulumi is at work. The resource in flight and the later ones
// need space on it, like files that a program creates. The output and the events of
// Pulumi go to the same disk, and the condition must still say what is wrong.
func TestDiskThatFillsUpInMidRun(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, smallDisk(t), "filling")
	u.keepThingsIn(filepath.Join(u.s.DataDir(), "cloud"))
	all := append(quick(2, "one"), thing{name: "slow", value: "one", after: "quick-0", hold: cloud.Create},
		thing{name: "after", value: "one", after: "slow"})
	u.create(ctx, all, func(stack *v1.Stack) { stack.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour} })
	u.awaitStarted(ctx, cloud.Create, "slow")
	ballast := filepath.Join(u.s.DataDir(), "ballast")
	u.Expect(fill(ballast)).To(Succeed())
	u.release()

	u.Eventually(func(g Gomega) {
		stack := u.stack(ctx)
		g.Expect(stack.Status.LastUpdate).NotTo(BeNil())
		g.Expect(stack.Status.Run).To(BeNil())
	}).Should(Succeed(), u.report(ctx))
	ready := conditions.Get(u.stack(ctx), meta.ReadyCondition)
	t.Logf("%s: %s", ready.Reason, ready.Message)
	u.Expect(ready.Status).To(Equal(metav1.ConditionFalse))
	u.Expect(ready.Message).To(ContainSubstring("no space left on device"))
	u.Expect(u.count(cloud.Create, cloud.Begin, "after")).To(BeZero())
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed())

	u.Expect(os.Remove(ballast)).To(Succeed())
	u.request(ctx, "there is space again")
	u.awaitCurrent(ctx)
	u.checkExact()
	u.remove(ctx)
	u.checkDestroyed()
}

// keepThingsIn moves the files of the things to a directory. The journal stays, because
// the test counts from it.
func (u *subject) keepThingsIn(dir string) {
	for _, name := range []string{"things", "tmp"} {
		u.Expect(os.MkdirAll(filepath.Join(dir, name), 0o755)).To(Succeed())
		u.Expect(os.Symlink(filepath.Join(dir, name), filepath.Join(u.cloudDir(), name))).To(Succeed())
	}
}
