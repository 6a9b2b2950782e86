// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// approvalWorld has a Stack that needs approvals.
func approvalWorld(t *testing.T, require v1.ApprovalRequirement) *world {
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: require} })
	return w
}

func planOf(op, value string) *plan.Plan {
	return &plan.Plan{Steps: []plan.Step{{Op: op, URN: "urn:pulumi:dev::app::lab:index:Thing::" + value, Type: "lab:index:Thing"}}}
}

// endWith ends the run in flight with a plan.
func (w *world) endWith(outcome run.Outcome, p *plan.Plan) {
	w.t.Helper()
	id := w.stack().Status.Run.ID
	w.runner.end(id, outcome, "")
	w.runner.results[id].Plan = p
	w.mustReconcile()
}

func (w *world) annotate(name, value string) {
	w.t.Helper()
	w.edit(func(s *v1.Stack) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, name, value) })
}

func TestAnUpdateIsProposedApprovedAndApplied(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo).To(And(HaveField("Operation", run.Propose), HaveField("Approved", ""), HaveField("PlanInputs", HavePrefix("sha256:")), HaveField("PlanKey", HaveLen(64))))

	first := planOf(plan.OpCreate, "a")
	w.endWith(run.Succeeded, first)
	stack := w.stack()
	g.Expect(stack.Status.Plan).To(And(HaveField("Digest", first.Digest()), HaveField("State", v1.PlanProposed), HaveField("Operation", v1.OperationUpdate), HaveField("Created", int32(1))))
	g.Expect(stack.Status.Plan.ConfigMap).NotTo(BeEmpty())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ApprovalRequiredReason))
	g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
	g.Expect(w.events.lines).To(ConsistOf(And(HavePrefix("Normal ApprovalRequired The update to revision"), ContainSubstring(first.Digest()))))
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.runner.slots).To(BeZero(), "it holds no slot")
	g.Expect(w.events.lines).To(HaveLen(1))

	w.annotate(v1.ApproveAnnotation, "main@sha1:abc")
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.stack().Status.Plan.Message).To(Equal("the annotation pulumi.com/approve is not the digest of a plan"))

	w.annotate(v1.ApprovedByAnnotation, "jane")
	w.annotate(v1.ApproveAnnotation, first.Digest())
	w.mustReconcile()
	stack = w.stack()
	g.Expect(w.runner.runs[stack.Status.Run.ID]).To(And(HaveField("Operation", run.Update), HaveField("Approved", first.Digest())))
	g.Expect(stack.Status.Run.Approved).To(Equal(first.Digest()))
	g.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanApproved), HaveField("ApprovedBy", "jane"), HaveField("Message", "")))

	second := planOf(plan.OpDelete, "b")
	w.endWith(run.PlanChanged, second)
	stack = w.stack()
	g.Expect(stack.Status.Plan).To(And(HaveField("Digest", second.Digest()), HaveField("State", v1.PlanProposed), HaveField("Destructive", true), HaveField("Difference", Not(BeEmpty())),
		HaveField("Message", ContainSubstring("approves another plan")), HaveField("ApprovedBy", "")))
	g.Expect(stack.Status.LastAppliedDigest).To(BeEmpty())
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "it waits again")
	plans := &corev1.ConfigMapList{}
	g.Expect(w.List(t.Context(), plans, client.HasLabels{"pulumi.com/plan-of"})).To(Succeed())
	g.Expect(plans.Items).To(HaveLen(1), "the former one is gone")

	w.edit(func(s *v1.Stack) { s.Spec.Approval.Approved, s.Generation = second.Digest(), s.Generation+1 })
	w.mustReconcile()
	w.endWith(run.Succeeded, nil)
	stack = w.stack()
	g.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanApplied), HaveField("ApprovedBy", "spec.approval.approved")))
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(stack.Status.History[0].Metadata).To(And(HaveKeyWithValue("plan", second.Digest()), HaveKeyWithValue("approvedBy", "spec.approval.approved")))
	g.Expect(w.events.lines[len(w.events.lines)-1]).To(ContainSubstring("was approved by spec.approval.approved"))
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(3), "in sync")
}

func TestAPlanThatWaitsIsMadeAgainAtTheInterval(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	before := w.stack().Status.Plan
	w.passTime(v1.DefaultInterval + time.Minute)
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	after := w.stack().Status.Plan
	g.Expect(after.CheckedAt).NotTo(BeNil())
	after.CheckedAt = nil
	g.Expect(after).To(Equal(before), "nothing has changed")
	g.Expect(w.events.lines).To(HaveExactElements(HavePrefix("Normal ApprovalRequired"), HavePrefix("Trace ApprovalRequired")), "a trace is no alert")
}

// withoutConfigMaps is an API server that creates no ConfigMaps, as with a quota.
type withoutConfigMaps struct{ client.Client }

func (c withoutConfigMaps) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if _, is := o.(*corev1.ConfigMap); is {
		return errors.New("exceeded quota")
	}
	return c.Client.Create(ctx, o, options...)
}

func TestDetailsThatCouldNotBeWrittenAreRetried(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.edit(func(s *v1.Stack) { s.Spec.RetryInterval = &metav1.Duration{Duration: time.Minute} })
	working := w.Client
	w.Client = withoutConfigMaps{working}
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	before := w.stack().Status.Plan
	g.Expect(before).To(And(HaveField("State", v1.PlanProposed), HaveField("ConfigMap", "")))

	w.Client = working
	w.passTime(2 * time.Minute)
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	after := w.stack().Status.Plan
	g.Expect(after.ConfigMap).NotTo(BeEmpty())
	g.Expect(after.Digest).To(Equal(before.Digest))
	w.passTime(2 * time.Minute)
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2))
}

func TestDetailsGoWithTheirPlan(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	kept := &corev1.ConfigMapList{}
	g.Expect(w.List(t.Context(), kept)).To(Succeed())
	g.Expect(kept.Items).To(HaveLen(2), "the plan, and the history")

	w.edit(func(s *v1.Stack) { s.Spec.Approval = nil })
	w.mustReconcile()
	g.Expect(w.stack().Status.Plan).To(BeNil())
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationUpdate))
	g.Expect(w.List(t.Context(), kept)).To(Succeed())
	g.Expect(kept.Items).To(ConsistOf(HaveField("Name", "app-history")))
}

func TestWhatIsNotDestructiveNeedsNobody(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalDestructive)
	w.mustReconcile()
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID]).To(And(HaveField("Operation", run.Update), HaveField("Approved", Not(BeEmpty()))))
	w.endWith(run.PlanChanged, planOf(plan.OpDelete, "a"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "what it has become does")
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ApprovalRequiredReason))
}

func TestARejectedPlanStalls(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.mustReconcile()
	p := planOf(plan.OpCreate, "a")
	w.endWith(run.Succeeded, p)
	w.annotate(v1.ApproveAnnotation, p.Digest())
	w.annotate(v1.RejectReasonAnnotation, "not on a Friday")
	w.annotate(v1.RejectAnnotation, p.Digest())
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(conditions.IsStalled(stack)).To(BeTrue())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.PlanRejectedReason))
	g.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanRejected), HaveField("Message", "not on a Friday")))
	w.mustReconcile()
	g.Expect(w.events.lines).To(HaveLen(2), "it is announced once")
}

func TestADestroyIsProposedAndKeepsTheObject(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	w.edit(func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: v1.ApprovalDestructive} })
	g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(run.ProposeDestroy))
	p := planOf(plan.OpDelete, "a")
	p.Destroy = true
	w.endWith(run.Succeeded, p)
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Finalizers).NotTo(BeEmpty())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ApprovalRequiredReason))
	g.Expect(stack.Status.Plan.Operation).To(Equal(v1.OperationDestroy))

	w.annotate(v1.ApproveAnnotation, p.Digest())
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID]).To(And(HaveField("Operation", run.Destroy), HaveField("Approved", p.Digest())))
}

func TestACrashDuringAnApprovedUpdateIsRecoveredWithoutAnApproval(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.mustReconcile()
	p := planOf(plan.OpCreate, "a")
	w.endWith(run.Succeeded, p)
	w.annotate(v1.ApproveAnnotation, p.Digest())
	w.mustReconcile()
	delete(w.runner.runs, w.stack().Status.Run.ID)
	w.others.gone, w.Holder.Instance = true, "b"
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(run.Recover))
	w.endWith(run.Succeeded, nil)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(And(HaveField("Operation", run.Update), HaveField("Approved", p.Digest())), "held to what was approved")
}

func TestAResultWithoutItsPlanIsAFailure(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.mustReconcile()
	w.endWith(run.Succeeded, nil)
	g.Expect(w.stack().Status.Plan).To(BeNil())
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.PreviewFailedReason))
}

func TestAnApprovalTriggersAReconcile(t *testing.T) {
	g := NewWithT(t)
	before, after := &v1.Stack{}, &v1.Stack{}
	passes := func() bool {
		return planDecidedPredicate().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g.Expect(passes()).To(BeFalse())
	for _, name := range []string{v1.ApproveAnnotation, v1.RejectAnnotation} {
		after.Annotations = map[string]string{name: "sha256:a"}
		g.Expect(passes()).To(BeTrue(), name)
	}
}
