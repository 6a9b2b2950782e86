// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// unmount has the directory of the backend be an empty one, like a volume that is not mounted.
func (u *subject) unmount() {
	u.Expect(os.Rename(u.backend(), u.backend()+".away")).To(Succeed())
	u.Expect(os.Mkdir(u.backend(), 0o755)).To(Succeed())
}

func (u *subject) mount() {
	u.Expect(os.RemoveAll(u.backend())).To(Succeed())
	u.Expect(os.Rename(u.backend()+".away", u.backend())).To(Succeed())
}

// A volume that is not mounted is an empty directory. That does not mean that the stack
// in it is destroyed.
func TestDestroyInABackendThatIsEmpty(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "empty")
	u.create(ctx, quick(2, "one"), nil)
	u.awaitCurrent(ctx)
	u.unmount()
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.DestroyFailedReason)).To(ContainSubstring("restore its state"))
	u.Expect(u.stack(ctx).Finalizers).To(ContainElement(v1.StackFinalizer))

	u.mount()
	u.awaitGone(ctx)
	u.checkDestroyed()
}

func TestRecoveryInABackendThatIsEmpty(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "unmounted")
	u.leaveCreation(ctx, nil)
	u.unmount()
	u.Expect(u.s.StartController()).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.RecoveryFailedReason)).To(ContainSubstring("is no longer in the backend"))
	u.Expect(u.count(cloud.Create, cloud.Begin, "fine")).To(Equal(1), "nothing is made a second time")

	u.mount()
	u.awaitLostIsNamed(ctx)
}

func TestDestroyThatIsInterruptedInABackendThatIsEmptyAfterwards(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "halfway")
	u.create(ctx, append(quick(2, "one"), thing{name: "slow", value: "one", hold: cloud.Delete, after: "quick-0"}), nil)
	u.awaitCurrent(ctx)
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.awaitStarted(ctx, cloud.Delete, "slow")
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.killAll("")
	u.unmount()
	u.release()
	u.Expect(u.s.StartController()).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.RecoveryFailedReason)).To(ContainSubstring("restore the state"))
	u.Expect(u.stack(ctx).Finalizers).To(ContainElement(v1.StackFinalizer))

	u.mount()
	u.awaitGone(ctx)
	u.checkDestroyed()
}

// Nothing is killed: the backend takes no writes while a resource is deleted, and is empty afterwards.
func TestDestroyThatCannotBeSavedInABackendThatIsEmptyAfterwards(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "vanished")
	u.create(ctx, append(quick(2, "one"), thing{name: "slow", value: "one", hold: cloud.Delete, after: "quick-0"}), nil)
	u.awaitCurrent(ctx)
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.awaitStarted(ctx, cloud.Delete, "slow")
	u.unmount()
	u.Expect(os.WriteFile(u.backend()+"/.pulumi", nil, 0o600)).To(Succeed(), "no directory, so that even root cannot write there")
	u.release()
	u.Eventually(func() []v1.InterruptedRun { return u.stack(ctx).Status.Interrupted }).ShouldNot(BeEmpty(), u.report(ctx))
	u.Expect(os.Remove(u.backend() + "/.pulumi")).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.RecoveryFailedReason)).To(ContainSubstring("restore the state"))

	u.mount()
	u.awaitGone(ctx)
	u.checkDestroyed()
}

// The run has done all it was asked to, so that nothing else says what has become of its lock.
func TestLockThatCannotBeRemoved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "undeletable")
	u.create(ctx, []thing{{name: "slow", value: "one", hold: cloud.Create}}, nil)
	u.awaitStarted(ctx, cloud.Create, "slow")
	locks, away := u.backend()+"/.pulumi/locks", u.backend()+"/away"
	u.Expect(os.Rename(locks, away)).To(Succeed())
	u.Expect(os.WriteFile(locks, nil, 0o600)).To(Succeed(), "no directory, so that even root cannot delete there")
	u.release()
	u.Eventually(func() []v1.InterruptedRun { return u.stack(ctx).Status.Interrupted }).ShouldNot(BeEmpty(), u.report(ctx))
	u.Expect(os.Remove(locks)).To(Succeed())
	u.Expect(os.Rename(away, locks)).To(Succeed())
	u.awaitCurrent(ctx)
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.count(cloud.Create, cloud.Begin, "slow")).To(Equal(1))
	u.checkQuiet()
}
