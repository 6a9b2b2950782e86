// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// killRun kills the controller and its whole run.
func (u *subject) killRun() {
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.killAll("pulumi")
	u.killAll("")
}

// beNew turns the Stack into a new one, whose stack had a lock that a person has removed.
func (u *subject) beNew(ctx context.Context) {
	for _, lock := range u.locks() {
		u.Expect(os.Remove(lock)).To(Succeed())
	}
	stack := u.stack(ctx)
	stack.Status = v1.StackStatus{}
	u.Expect(u.s.Status().Update(ctx, stack)).To(Succeed())
}

// A refresh with --clear-pending-creates clears creations before it starts: had it been
// killed, only the status could still name them.
func TestRecoveryThatClearsIsKilledInItsRefresh(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "clears")
	slow := map[string]string{"update": "1h"}
	u.create(ctx, []thing{{name: "upd", value: "one", delays: slow, hold: cloud.Read}}, func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitCurrent(ctx)
	u.edit(ctx, []thing{{name: "upd", value: "two", delays: slow, hold: cloud.Read}, {name: "lost", value: "one", delays: map[string]string{"afterCreate": "1h"}}})
	u.awaitStarted(ctx, cloud.Update, "upd")
	u.Eventually(func() int { return u.count(cloud.Create, cloud.Done, "lost") }).Should(Equal(1), u.report(ctx))
	u.killRun()

	u.edit(ctx, []thing{{name: "upd", value: "two"}, {name: "lost", value: "one"}})
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitStarted(ctx, cloud.Read, "upd")
	u.killRun()
	u.release()
	u.Expect(os.RemoveAll(u.s.DataDir())).To(Succeed())
	u.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesStop })
	_, err := u.s.StartAnother()
	u.Expect(err).NotTo(HaveOccurred())
	u.awaitLostIsNamed(ctx)

	u.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitCurrent(ctx)
	u.checkQuiet()
	u.awaitEvent(ctx, And(HavePrefix("Removed these creations"), ContainSubstring("::lost")))
}

// Someone died in mid-delete. The refresh of our first run drops that from the state,
// and is killed before it has checked all that was in flight.
func TestFirstRunThatIsKilledWhileItLooks(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "looks")
	gone := map[string]string{"delete": "1h"}
	both := []thing{{name: "fine", value: "one"}, {name: "gone-a", value: "one", delays: gone},
		{name: "gone-b", value: "one", delays: gone, hold: cloud.Read}}
	u.create(ctx, both, func(s *v1.Stack) { s.Spec.RunProgram = true })
	u.awaitCurrent(ctx)
	u.edit(ctx, both[:1])
	u.awaitStarted(ctx, cloud.Delete, "gone-a")
	u.awaitStarted(ctx, cloud.Delete, "gone-b")
	u.killRun()
	things, err := u.cloud().Things()
	u.Expect(err).NotTo(HaveOccurred())
	for _, thing := range things {
		if thing.Name != "fine" {
			u.Expect(u.cloud().Remove(thing.ID)).To(Succeed(), "the cloud has done it")
		}
	}
	u.beNew(ctx)
	u.edit(ctx, both)

	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitStarted(ctx, cloud.Read, "gone-b")
	u.Eventually(func() (string, error) {
		text, err := os.ReadFile(u.checkpoint())
		return string(text), err
	}).Should(And(ContainSubstring("resources"), Not(ContainSubstring("pending_operations"))))
	u.killRun()
	u.release()
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitCurrent(ctx)
	things, err = u.cloud().Things()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(things).To(ConsistOf(HaveField("Name", "fine"), HaveField("Name", "gone-a"), HaveField("Name", "gone-b")))
	u.checkQuiet()
}

// The owner of the lock was at work when our run looked, and has died since. A person
// removes the lock, as the message says.
func TestLockWhoseHolderDiesHasTheStackLookedAt(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "holder")
	u.leaveCreation(ctx, nil)
	path := u.checkpoint()
	dead, err := os.ReadFile(path)
	u.Expect(err).NotTo(HaveOccurred())
	var alive map[string]any
	u.Expect(json.Unmarshal(dead, &alive)).To(Succeed())
	delete(alive["checkpoint"].(map[string]any)["latest"].(map[string]any), "pending_operations")
	text, err := json.Marshal(alive)
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	u.beNew(ctx)
	lock := u.lock("laptop", 1)
	u.edit(ctx, []thing{{name: "fine", value: "one"}, {name: "lost", value: "one"}})
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitLocked(ctx, "laptop", lock)

	// Not between the look at the stack and the update of one run.
	u.configure(ctx, func(spec *v1.StackSpec) { spec.Suspend = true })
	u.Eventually(func() *v1.RunStatus { return u.stack(ctx).Status.Run }).Should(BeNil())
	u.Expect(os.WriteFile(path, dead, 0o600)).To(Succeed())
	u.Expect(os.Remove(lock)).To(Succeed())
	u.configure(ctx, func(spec *v1.StackSpec) { spec.Suspend = false })
	u.awaitLostIsNamed(ctx)
}
