// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// Killed at any time, nothing happens that is not approved, and nothing happens twice.
func TestKillWithApprovals(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "approved")
	things := func(value string) []thing {
		return []thing{{name: "first", value: value}, {name: "slow", value: value, after: "first", hold: cloud.Update}}
	}
	u.create(ctx, things("one"), func(stack *v1.Stack) { stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways} })
	u.killIn(ctx, v1.OperationPropose, "preview")
	proposed := u.awaitProposal(ctx, "")
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.count(cloud.Create, cloud.Begin, "first")).To(BeZero(), "nothing is approved")

	u.annotate(ctx, v1.ApproveAnnotation, proposed.Digest)
	u.killIn(ctx, v1.OperationUpdate, "preview") // while it is compared
	u.awaitCurrent(ctx)
	u.Expect(u.stack(ctx).Status.Plan.Digest).To(Equal(proposed.Digest))
	u.checkExact()

	u.edit(ctx, things("two"))
	proposed = u.awaitProposal(ctx, proposed.Digest)
	u.annotate(ctx, v1.ApproveAnnotation, proposed.Digest)
	u.awaitStarted(ctx, cloud.Update, "slow")
	u.killAndRestart() // while it is applied
	left := u.awaitProposal(ctx, proposed.Digest)
	u.Expect(left.Updated).To(BeEquivalentTo(1), "what is left to do is another change")
	u.Expect(u.locks()).To(BeEmpty())
	u.Expect(u.count(cloud.Update, cloud.Begin, "slow")).To(Equal(1), "nobody has approved what is left")
	u.release()
	u.annotate(ctx, v1.ApproveAnnotation, left.Digest)
	u.awaitCurrent(ctx)
	u.checkExact()
	u.Expect(u.count(cloud.Update, cloud.Begin, "first")).To(Equal(1), "it is not applied twice")

	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.killIn(ctx, v1.OperationProposeDestroy, "--preview-only")
	proposed = u.awaitProposal(ctx, left.Digest)
	u.annotate(ctx, v1.ApproveAnnotation, proposed.Digest)
	u.killIn(ctx, v1.OperationDestroy, "--preview-only")
	u.awaitGone(ctx)
	u.checkDestroyed()
	for _, name := range []string{"first", "slow"} {
		u.Expect(u.count(cloud.Create, cloud.Begin, name)).To(Equal(1))
		u.Expect(u.count(cloud.Delete, cloud.Begin, name)).To(Equal(1))
	}
}

// awaitProposal waits until a plan other than the former one waits for an approval.
func (u *subject) awaitProposal(ctx context.Context, former string) *v1.PlanStatus {
	var proposed *v1.PlanStatus
	u.Eventually(func(g Gomega) {
		stack := u.stack(ctx)
		proposed = stack.Status.Plan
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(stack.Status.Interrupted).To(BeEmpty())
		g.Expect(proposed).To(And(HaveField("State", v1.PlanProposed), HaveField("Digest", Not(Equal(former)))))
	}).Should(Succeed(), u.report(ctx))
	return proposed
}

// killIn kills everything as soon as a run of the operation calls Pulumi with the argument, and
// starts the next controller.
func (u *subject) killIn(ctx context.Context, operation v1.Operation, argument string) {
	u.awaitRun(ctx, operation)
	u.Eventually(func() bool {
		return slices.ContainsFunc(u.processes("pulumi"), func(pid int) bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return err == nil && slices.Contains(strings.Split(string(text), "\x00"), argument)
		})
	}).WithPolling(time.Millisecond).Should(BeTrue(), u.report(ctx))
	u.killAndRestart()
}
