// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// soon makes a run time out.
func soon(stack *v1.Stack) {
	stack.Spec.Timeout = &metav1.Duration{Duration: 10 * time.Second}
}

// awaitStartedInTime waits until an operation has started before the timeout. On a slow
// machine it tries the run again, with more time.
func (u *subject) awaitStartedInTime(ctx context.Context, op, name string) {
	failed := ""
	u.Eventually(func(g Gomega) {
		last := u.stack(ctx).Status.LastUpdate // read first: what ends later had started before
		started := u.count(op, cloud.Begin, name) > 0
		if !started && last != nil && last.Name != failed {
			failed = last.Name
			u.configure(ctx, func(spec *v1.StackSpec) { spec.Timeout.Duration *= 2 })
		}
		g.Expect(started).To(BeTrue())
	}).Should(Succeed(), u.report(ctx))
}

// A provider that hangs, and gives up when it is told to stop, leaves nothing behind. But
// that it created nothing is not known, so a person has to say, as for one that does not
// respond.
func TestTimeoutOfAProviderThatCanBeStopped(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t, "--cancel-grace=2s"), "stopped")
	u.create(ctx, []thing{{name: "hangs", value: "one", hang: cloud.Create}}, soon)
	u.awaitStartedInTime(ctx, cloud.Create, "hangs")
	u.Expect(u.awaitReason(ctx, v1.PendingOperationsReason)).To(ContainSubstring("::hangs"), "the resource is named")
	u.checkQuiet()
	u.Expect(u.stack(ctx).Status.UnknownCreates).To(ConsistOf(HaveSuffix("::hangs")))
	u.Expect(u.stack(ctx).Status.LastUpdate.Message).To(ContainSubstring("the timeout has passed"))

	u.edit(ctx, []thing{{name: "hangs", value: "one"}})
	u.configure(ctx, func(spec *v1.StackSpec) {
		spec.PendingCreates, spec.Timeout = v1.PendingCreatesClear, nil
	})
	u.awaitCurrent(ctx)
	u.checkExact()
}

// A provider that does not respond at all is given up. The outcome of its creation stays
// unknown, and the Stack waits for a person to say what has become of it.
func TestTimeoutOfAProviderThatDoesNotAnswer(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t, "--cancel-grace=2s"), "hung")
	u.create(ctx, append(slow("1h"), quick(2, "one")...), soon)
	u.awaitStartedInTime(ctx, cloud.Create, "slow")
	u.awaitReason(ctx, v1.PendingOperationsReason)
	stack := u.stack(ctx)
	u.Expect(conditions.IsStalled(stack)).To(BeTrue())
	u.Expect(stack.Status.UnknownCreates).To(ConsistOf(HaveSuffix("::slow")), "that resource, and no other")
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("::slow"))
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.processes("")).To(BeEmpty(), "no process of the run lives on")
	u.Expect(u.count(cloud.Create, cloud.Begin, "slow")).To(Equal(1), "it was not started a second time")

	u.edit(ctx, append([]thing{{name: "slow", value: "one"}}, quick(2, "one")...))
	u.configure(ctx, func(spec *v1.StackSpec) {
		spec.PendingCreates, spec.Timeout = v1.PendingCreatesClear, nil
	})
	u.awaitCurrent(ctx)
	u.checkExact()
}
