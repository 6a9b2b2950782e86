// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// leaveCreation makes a run create a thing that its provider never reports, and kills the
// controller and the whole run: the creation stays in flight in the state.
func (u *subject) leaveCreation(ctx context.Context, change func(*v1.Stack)) {
	u.create(ctx, []thing{{name: "fine", value: "one"}, {name: "lost", value: "one", delays: map[string]string{"afterCreate": "1h"}}}, change)
	for _, name := range []string{"fine", "lost"} {
		u.Eventually(func() int { return u.count(cloud.Create, cloud.Done, name) }).Should(Equal(1), u.report(ctx))
	}
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.killAll("")
	u.Expect(u.state().Checkpoint.Latest.Pending).NotTo(BeEmpty())
}

// awaitLostIsNamed waits until the Stack asks about the creation, and checks that it was
// not repeated.
func (u *subject) awaitLostIsNamed(ctx context.Context) {
	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::lost"))
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::lost")))
	u.Expect(u.count(cloud.Create, cloud.Begin, "lost")).To(Equal(1), "it is not made a second time")
	u.Expect(u.locks()).To(BeEmpty())
}

// awaitEvent waits for an event with a matching message.
func (u *subject) awaitEvent(ctx context.Context, matcher types.GomegaMatcher) {
	events := &corev1.EventList{}
	u.Eventually(func() []string {
		u.Expect(u.s.List(ctx, events, client.InNamespace(u.s.RuntimeNamespace()))).To(Succeed())
		var messages []string
		for _, event := range events.Items {
			messages = append(messages, event.Message)
		}
		return messages
	}).Should(ContainElement(matcher), u.report(ctx))
}

// The Pulumi operator died in mid-update, and a person has removed its lock: only the
// state shows what was in flight.
func TestCreationThatTheOperatorLeftInTheState(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "cut")
	u.leaveCreation(ctx, nil)
	for _, lock := range u.locks() {
		u.Expect(os.Remove(lock)).To(Succeed())
	}
	stack := u.stack(ctx)
	stack.Status = v1.StackStatus{CurrentUpdate: &v1.CurrentUpdate{Generation: 1, Name: "cut-abc"}, LastUpdate: &v1.LastUpdate{
		Generation: 1, State: v1.UpdateSucceeded, Type: v1.UpdateTypeUp, LastSuccessfulCommit: "1", LastResyncTime: &metav1.Time{Time: time.Now()}}}
	u.Expect(u.s.Status().Update(ctx, stack)).To(Succeed())
	u.edit(ctx, []thing{{name: "fine", value: "one"}, {name: "lost", value: "one"}})
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitLostIsNamed(ctx)

	u.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesClear })
	u.awaitCurrent(ctx)
	u.checkQuiet()
	u.Expect(u.count(cloud.Create, cloud.Begin, "fine")).To(Equal(1))
}

// A Stack whose resources are to be kept is deleted after a crash, and created again.
func TestCrashedStackIsRecoveredBeforeItsFinalizerIsRemoved(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "again")
	keep := func(stack *v1.Stack) { stack.Spec.DestroyOnFinalize = false }
	u.leaveCreation(ctx, keep)
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitGone(ctx)
	u.Expect(u.locks()).To(BeEmpty())
	u.awaitEvent(ctx, And(HavePrefix("The Stack was released"), ContainSubstring("::lost")))

	u.Expect(u.s.Delete(ctx, &v1.Program{ObjectMeta: u.meta()})).To(Succeed())
	u.create(ctx, []thing{{name: "fine", value: "one"}, {name: "lost", value: "one"}}, keep)
	u.awaitLostIsNamed(ctx)
	u.Expect(u.count(cloud.Create, cloud.Begin, "fine")).To(Equal(1))
}
