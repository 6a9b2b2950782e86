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

// A program whose runs are killed every time, as by the OOM killer, is run again at once
// only the first time. No resource is lost to the kills, and a requested run does not
// wait.
func TestRunThatIsKilledAgainAndAgain(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "again")
	u.create(ctx, quick(2, "one"), func(stack *v1.Stack) { stack.Spec.RetryInterval = &metav1.Duration{Duration: time.Hour} })
	u.awaitCurrent(ctx)
	u.edit(ctx, []thing{{name: "quick-0", value: "two", hold: cloud.Update}, {name: "quick-1", value: "one"}})

	const kills = 2
	var before string
	for range kills {
		before = u.killNextUpdate(ctx, before)
	}
	u.Eventually(func(g Gomega) {
		stack := u.stack(ctx)
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(stack.Status.Interrupted).To(BeEmpty())
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("The next run waits"))
	}).Should(Succeed(), u.report(ctx))
	u.Expect(u.stack(ctx).Status.Failures).To(BeEquivalentTo(kills))
	u.Consistently(func() *v1.RunStatus { return u.stack(ctx).Status.Run }, "3s").Should(BeNil(), "the next run waits")

	u.release()
	u.request(ctx, "now")
	u.awaitCurrent(ctx)
	u.checkExact()
	u.Expect(u.count(cloud.Update, cloud.Done, "quick-0")).To(BeNumerically(">=", 1))
}

// killNextUpdate kills the CLI of the next update while it is at work, and returns the ID
// of the run.
func (u *subject) killNextUpdate(ctx context.Context, before string) string {
	var id string
	started := u.count(cloud.Update, cloud.Begin, "quick-0")
	u.Eventually(func(g Gomega) {
		run := u.stack(ctx).Status.Run
		g.Expect(run).NotTo(BeNil())
		g.Expect(run.Operation).To(Equal(v1.OperationUpdate))
		g.Expect(run.ID).NotTo(Equal(before))
		g.Expect(u.count(cloud.Update, cloud.Begin, "quick-0")).To(BeNumerically(">", started))
		id = run.ID
	}).Should(Succeed(), u.report(ctx))
	u.Expect(u.killAll("pulumi")).To(Equal(1))
	return id
}

// request requests a run, like flux reconcile.
func (u *subject) request(ctx context.Context, what string) {
	u.annotate(ctx, meta.ReconcileRequestAnnotation, what)
}
