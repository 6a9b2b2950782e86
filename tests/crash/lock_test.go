// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// lock writes a lock into the backend, like another Pulumi.
func (u *subject) lock(host string, pid int) string {
	text, err := json.Marshal(map[string]any{
		"pid": pid, "username": "alice", "hostname": host, "timestamp": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(os.MkdirAll(u.lockDir(), 0o755)).To(Succeed())
	path := filepath.Join(u.lockDir(), "0aaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.json")
	u.Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	return path
}

// awaitLocked waits until the Stack names the owner of the lock, and checks that the lock
// survives several retries.
func (u *subject) awaitLocked(ctx context.Context, host, path string) {
	message := u.awaitReason(ctx, v1.StackLockedReason)
	u.Expect(message).To(ContainSubstring("alice@" + host))
	u.Expect(message).To(ContainSubstring("2026-01-02T03:04:05Z"))
	failures := u.stack(ctx).Status.Failures
	u.Consistently(path, "4s").Should(BeAnExistingFile(), "it is someone else's")
	u.Eventually(func(g Gomega) {
		stack := u.stack(ctx)
		g.Expect(stack.Status.Failures > failures || len(stack.Status.Interrupted) > 0).To(BeTrue(), "it is tried again")
	}).Should(Succeed(), u.report(ctx))
}

// A lock with another owner is never removed: neither one of another host, nor one of
// another process of this host.
func TestForeignLockIsLeftAlone(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	here, err := os.Hostname()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	s := start(t)
	for name, host := range map[string]string{"elsewhere": "laptop", "here": here} {
		t.Run(name, func(t *testing.T) {
			u := newSubject(t, s, "locked-"+name)
			u.create(ctx, quick(2, "one"), nil)
			u.awaitCurrent(ctx)
			lock := u.lock(host, 1)
			u.edit(ctx, quick(3, "two"))
			u.awaitLocked(ctx, host, lock)
			u.Expect(os.Remove(lock)).To(Succeed())
			u.awaitCurrent(ctx)
			u.checkExact()
		})
	}
}

// A recovery does not remove it either, while it removes its own lock beside it.
func TestRecoveryLeavesAForeignLock(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	here, err := os.Hostname()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	s := start(t)
	for name, host := range map[string]string{"elsewhere": "laptop", "here": here} {
		t.Run(name, func(t *testing.T) {
			u := newSubject(t, s, "recovery-"+name)
			u.create(ctx, quick(2, "one"), nil)
			u.awaitCurrent(ctx)
			u.edit(ctx, []thing{{name: "quick-0", value: "two", hold: cloud.Update}, {name: "quick-1", value: "one"}})
			u.awaitStarted(ctx, cloud.Update, "quick-0")
			u.Expect(u.s.Controller.Kill()).To(Succeed())
			u.Expect(u.killAll("pulumi")).To(Equal(1))
			u.killAll("pulumi-resource-lab")
			u.release()
			u.Expect(u.locks()).To(HaveLen(1), "the run has left its lock")
			lock := u.lock(host, 1)

			u.Expect(u.s.StartController()).To(Succeed())
			u.awaitLocked(ctx, host, lock)
			u.Expect(u.locks()).To(ConsistOf(lock), "its own is removed")
			u.Expect(os.Remove(lock)).To(Succeed())
			u.awaitCurrent(ctx)
			u.checkExact()
		})
	}
}

// A CLI that is killed while it creates the stack leaves its lock, and no stack yet.
func TestKillWhileTheStackIsMade(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	killWhileTheStackIsMade(t, "init", nil, func(*subject) {})
}

// The CLI is killed while it creates the stack, and then the controller, before it could
// read how the CLI ended. The next controller starts while the CLI may not be reaped yet.
func TestKillOfControllerAndCLIWhileTheStackIsMade(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	killWhileTheStackIsMade(t, "init-too", nil, func(u *subject) { u.killAndRestart() })
}

// A proposal changes nothing else.
func TestKillWhileAProposalMakesTheStack(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	proposed := func(stack *v1.Stack) { stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalDestructive} }
	killWhileTheStackIsMade(t, "init-proposal", proposed, func(u *subject) {
		u.killAndRestart()
		u.awaitCurrent(t.Context())
		u.configure(t.Context(), func(spec *v1.StackSpec) { spec.Approval = nil })
	})
}

// killAndRestart kills the controller and its runs, and starts the next one.
func (u *subject) killAndRestart() {
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.killAll("")
	u.Expect(u.s.StartController()).To(Succeed())
}

// killWhileTheStackIsMade kills the CLI of new Stacks, after change, if not nil, has changed
// them, until it hits that moment, and calls after each time.
func killWhileTheStackIsMade(t *testing.T, name string, change func(*v1.Stack), after func(*subject)) {
	ctx := t.Context()
	s := start(t)
	const tries = 30
	for n := range tries {
		u := newSubject(t, s, fmt.Sprintf("%s-%d", name, n))
		u.Expect(os.MkdirAll(u.lockDir(), 0o755)).To(Succeed())
		u.create(ctx, quick(2, "one"), change)
		killed := u.killWhenLocked(ctx)
		after(u)
		u.awaitCurrent(ctx)
		u.checkExact()
		u.remove(ctx)
		u.checkDestroyed()
		if killed {
			t.Logf("the moment was hit at try %d", n+1)
			return
		}
	}
	t.Errorf("the moment was missed %d times", tries)
}

// Everything dies at once, and the disk of the controller is lost. The time, user and
// host of the lock still prove that it is its own, and what the run was creating is
// named.
func TestLockOutlivesEverythingAndTheDisk(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "lost-disk")
	u.create(ctx, append(quick(1, "one"), thing{name: "lost", value: "one", after: "quick-0", delays: map[string]string{"afterCreate": "1h"}}), nil)
	u.Eventually(func() int { return u.count(cloud.Create, cloud.Done, "lost") }).Should(Equal(1), u.report(ctx))
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.killAll("")
	u.Expect(u.locks()).To(HaveLen(1), "the run has left its lock")

	u.loseController()
	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::lost"))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::lost")), "that resource, and no other")
	u.Expect(u.count(cloud.Create, cloud.Begin, "lost")).To(Equal(1), "it was not started a second time")
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.processes("")).To(BeEmpty())
}

// killWhenLocked kills the first CLI of the Stack as soon as it has locked the stack, and
// reports whether that was before it created the stack.
func (u *subject) killWhenLocked(ctx context.Context) bool {
	var found []int
	u.Eventually(func() []int { found = u.processes("pulumi"); return found }).WithPolling(time.Millisecond).ShouldNot(BeEmpty(), u.report(ctx))
	stack := filepath.Join(u.backend(), ".pulumi", "stacks", u.name, "dev.json")
	for end := time.Now().Add(patience); len(u.locks()) == 0; { // no pause, which would be longer than this moment
		if _, err := os.Stat(stack); err == nil || time.Now().After(end) {
			return false
		}
	}
	kill(found)
	_, err := os.Stat(stack)
	return os.IsNotExist(err) && len(u.locks()) > 0
}
