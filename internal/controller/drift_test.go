// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// drifted is what a check has found: a property of a thing that is another one.
func drifted(value string) run.Drift {
	return run.Drift{Ignored: 1, Found: plan.Plan{Steps: []plan.Step{{
		Op: plan.OpUpdate, URN: "urn:pulumi:dev::app::lab:index:Thing::a", Type: "lab:index:Thing",
		Properties: []plan.Property{{Path: "value", Kind: plan.KindUpdate, Change: plan.Change{Old: json.RawMessage(`"one"`), New: json.RawMessage(value)}}},
	}}}}
}

// driftWorld has a Stack that was applied and is checked for drift each hour.
func driftWorld(t *testing.T, changes ...func(*v1.Stack)) *world {
	t.Helper()
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	w.mustReconcile()
	w.edit(func(s *v1.Stack) {
		s.CreationTimestamp = metav1.NewTime(started)
		s.Spec.Drift = &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
		for _, change := range changes {
			change(s)
		}
	})
	w.mustReconcile()
	if w.stack().Status.Run != nil { // the changes are inputs
		w.endRun(run.Succeeded, "", run.Changes{})
		w.mustReconcile()
	}
	return w
}

// endCheck ends the check in flight.
func (w *world) endCheck(outcome run.Outcome, message string, found *run.Drift) {
	w.t.Helper()
	record := w.stack().Status.Run
	NewWithT(w.t).Expect(record).To(HaveField("Operation", run.CheckDrift))
	w.runner.end(record.ID, outcome, message)
	w.runner.results[record.ID].Drift = found
	w.runner.results[record.ID].EndedAt = w.Now()
	w.mustReconcile()
}

func TestAStackIsCheckedForDrift(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) {
		s.Spec.Targets = []string{"urn:some"}
		s.Spec.Drift.Ignore = []v1.IgnoredDrift{{Type: "lab:index:Thing", Paths: []string{"tags"}}}
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "not yet")
	before := w.stack()

	w.passTime(66 * time.Minute)
	writes := w.writes
	w.mustReconcile()
	record := w.stack().Status.Run
	g.Expect(record).To(HaveField("Operation", run.CheckDrift))
	todo := w.runner.runs[record.ID]
	g.Expect(todo.IgnoreDrift).To(Equal(w.stack().Spec.Drift.Ignore))
	g.Expect(todo.Options).To(Equal(run.Options{}), "it is of the whole stack")
	g.Expect(todo.PlanKey).NotTo(BeEmpty())
	g.Expect(todo.Config).To(BeEmpty(), "it works from the state alone")
	w.passTime(time.Minute)
	w.mustReconcile()

	w.endCheck(run.Succeeded, "", &run.Drift{})
	stack := w.stack()
	g.Expect(w.writes-writes).To(Equal(2), "the record, and the time of the check")
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Drift).To(Equal(&v1.DriftStatus{LastCheckedAt: &metav1.Time{Time: stack.Status.Drift.LastCheckedAt.Time}, Result: v1.NoDriftReason}))
	g.Expect(conditions.Get(stack, v1.DriftedCondition)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.NoDriftReason)))
	for _, kind := range []string{"Ready", "Reconciling", "Stalled"} {
		g.Expect(conditions.Get(stack, kind)).To(Equal(conditions.Get(before, kind)))
	}
	g.Expect(stack.Status.LastRun).To(Equal(before.Status.LastRun))
	g.Expect(stack.Status.History).To(Equal(before.Status.History))
	g.Expect(w.runner.forgotten).To(ContainElement(record.ID))
	since := conditions.Get(stack, v1.DriftedCondition).LastTransitionTime

	w.passTime(67 * time.Minute)
	w.mustReconcile()
	some := drifted(`"two"`)
	w.endCheck(run.Succeeded, "", &some)
	found := w.stack()
	g.Expect(found.Status.Drift).To(And(HaveField("Result", v1.DriftDetectedReason), HaveField("Changed", BeEquivalentTo(1)),
		HaveField("Deleted", BeEquivalentTo(0)), HaveField("Ignored", BeEquivalentTo(1)), HaveField("Digest", some.Found.Digest())))
	g.Expect(conditions.Get(found, v1.DriftedCondition)).To(And(HaveField("Status", metav1.ConditionTrue),
		HaveField("Message", "Found drift: 1 changed (1 ignored)"), HaveField("LastTransitionTime", Not(Equal(since)))))
	g.Expect(conditions.Get(found, "Ready")).To(Equal(conditions.Get(before, "Ready")))

	w.passTime(67 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &some)
	g.Expect(w.stack().Status.Drift.Since).To(Equal(found.Status.Drift.Since), "it is the same drift")
	g.Expect(conditions.Get(w.stack(), v1.DriftedCondition)).To(Equal(conditions.Get(found, v1.DriftedCondition)))

	w.edit(func(s *v1.Stack) { s.Spec.Drift = nil })
	w.mustReconcile()
	g.Expect(w.stack().Status.Drift).To(BeNil())
	g.Expect(conditions.Get(w.stack(), v1.DriftedCondition)).To(BeNil())
}

func TestACheckForDriftThatFails(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	some := drifted(`"two"`)
	w.endCheck(run.Succeeded, "", &some)

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Failed, "the provider does not answer", nil)
	stack := w.stack()
	g.Expect(conditions.Get(stack, v1.DriftedCondition)).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", v1.DriftCheckFailedReason),
		HaveField("Message", "The check for drift failed: the provider does not answer")))
	g.Expect(stack.Status.Drift).To(And(HaveField("Digest", some.Found.Digest()), HaveField("Failures", BeEquivalentTo(1))))
	g.Expect(conditions.Get(stack, "Ready")).To(HaveField("Status", metav1.ConditionTrue))

	w.passTime(9 * time.Minute)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it backs off")
	w.passTime(2 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &some)
	g.Expect(w.stack().Status.Drift).To(And(HaveField("Since", stack.Status.Drift.Since), HaveField("Failures", BeEquivalentTo(0))))

	w.passTime(66 * time.Minute)
	w.edit(func(s *v1.Stack) {
		s.Spec.EnvRefs = map[string]v1.ResourceRef{"A": {Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "gone", Key: "k"}}}
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.Get(w.stack(), v1.DriftedCondition)).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Message", ContainSubstring("InputsFailed"))))
}

func TestACheckForDriftGivesWay(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	check := w.stack().Status.Run
	g.Expect(check).To(HaveField("Operation", run.CheckDrift))

	w.edit(func(s *v1.Stack) { s.Spec.EnvRefs = map[string]v1.ResourceRef{"A": literalRef("b")} })
	w.mustReconcile()
	g.Expect(w.runner.cancels).To(HaveKeyWithValue(check.ID, true))
	w.endCheck(run.Cancelled, "cancelled", nil)
	g.Expect(w.stack().Status.Drift).To(BeNil(), "it does not count")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update), "what is due comes first")
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckDrift), "and then the check is repeated")
}

// The new controller cannot prove that the old one is gone, as with a pod on a node that is lost.
func TestACheckOfAnotherControllerHoldsUpNothing(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t)
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckDrift))

	w.runner = newTestRunner()
	w.Runner, w.Holder.Instance = w.runner, "b"
	w.edit(func(s *v1.Stack) { s.Spec.EnvRefs = map[string]v1.ResourceRef{"A": literalRef("b")} })
	w.mustReconcile()
	g.Expect(conditions.Get(w.stack(), v1.DriftedCondition)).To(And(HaveField("Reason", v1.DriftCheckFailedReason),
		HaveField("Message", ContainSubstring("Another controller has taken over from the one on pod-1"))))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update))
}

func TestDriftIsCorrected(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) { s.Spec.Drift.Mode = v1.DriftCorrect })
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	some := drifted(`"two"`)
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	record := w.stack().Status.Run
	g.Expect(record).To(And(HaveField("Operation", run.Update), HaveField("Drift", some.Found.Digest()), HaveField("Approved", "")))
	g.Expect(w.runner.runs[record.ID].Options).To(Equal(run.Options{Refresh: true, PreviewFirst: true, Targets: []string{some.Found.Steps[0].URN}}))

	w.passTime(time.Minute)
	w.endRun(run.Succeeded, "", run.Changes{Updated: 1})
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckDrift), "to see whether it is gone")
	other := drifted(`"three"`)
	w.endCheck(run.Succeeded, "", &other)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "what is another value each time is not corrected without end")
	g.Expect(w.stack().Status.Drift.Message).To(ContainSubstring("has not undone"))

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &other)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "nor is the same drift")

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.CheckDriftAnnotation: "now"} })
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &other)
	g.Expect(w.stack().Status.Drift.LastHandledCheck).To(Equal("now"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Drift", other.Found.Digest()), "but on request")
	w.endRun(run.Succeeded, "", run.Changes{Updated: 1})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("CheckRequest", ""), "the request is handled")
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "once")
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("CheckRequest", ""), "on schedule")
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "nor later")

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &run.Drift{})
	g.Expect(conditions.Get(w.stack(), v1.DriftedCondition)).To(HaveField("Status", metav1.ConditionFalse))

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &other)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update), "it was gone, and is there again")
}

func TestDriftIsCorrectedOnceApproved(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) { s.Spec.Drift.Mode = v1.DriftPropose })
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	some := drifted(`"two"`)
	w.endCheck(run.Succeeded, "", &some)
	before := w.stack()
	w.mustReconcile()
	record := w.stack().Status.Run
	g.Expect(record).To(And(HaveField("Operation", run.Propose), HaveField("Drift", some.Found.Digest())))
	g.Expect(w.runner.runs[record.ID].Options).To(Equal(run.Options{Refresh: true, PreviewFirst: true, Targets: []string{some.Found.Steps[0].URN}}))

	made := some.Found
	propose := func() {
		id := w.stack().Status.Run.ID
		w.runner.end(id, run.Succeeded, "")
		w.runner.results[id].Plan, w.runner.results[id].EndedAt = &made, w.Now() // a plan from before the check is made again
		w.mustReconcile()
		w.mustReconcile()
	}
	propose()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil(), "it waits")
	g.Expect(stack.Status.Plan).To(And(HaveField("Drift", some.Found.Digest()), HaveField("State", v1.PlanProposed), HaveField("Digest", made.Digest())))
	g.Expect(stack.Status.LastRun).To(Equal(before.Status.LastRun))
	for _, kind := range []string{"Ready", "Reconciling", "Stalled"} {
		g.Expect(conditions.Get(stack, kind)).To(Equal(conditions.Get(before, kind)), "it is no reason not to be ready")
	}

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &some)
	w.passTime(w.stack().GetRetryInterval())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Propose), "the plan is made again")
	propose()
	g.Expect(w.stack().Status.Plan).To(HaveField("Digest", made.Digest()))

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.ApproveAnnotation: made.Digest()} })
	w.mustReconcile()
	record = w.stack().Status.Run
	g.Expect(record).To(And(HaveField("Operation", run.Update), HaveField("Drift", some.Found.Digest()), HaveField("Approved", made.Digest())))
	changed := drifted(`"three"`)
	w.runner.end(record.ID, run.PlanChanged, "")
	w.runner.results[record.ID].Plan, w.runner.results[record.ID].EndedAt = &changed.Found, w.Now()
	w.mustReconcile()
	w.mustReconcile()
	stack = w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Plan).To(And(HaveField("Digest", changed.Found.Digest()), HaveField("Drift", some.Found.Digest())), "the other plan waits")
	g.Expect(conditions.IsReady(stack)).To(BeTrue())

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.ApproveAnnotation: changed.Found.Digest()} })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Approved", changed.Found.Digest()))
	w.endRun(run.Succeeded, "", run.Changes{Updated: 1})
	g.Expect(w.stack().Status.Plan).To(HaveField("State", v1.PlanApplied))
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &run.Drift{})
	g.Expect(conditions.Get(w.stack(), v1.DriftedCondition)).To(HaveField("Status", metav1.ConditionFalse))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
}

func TestACorrectionThatFailsLeadsToNoOtherUpdate(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) { s.Spec.Drift.Mode = v1.DriftPropose })
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	some := drifted(`"two"`)
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	made := some.Found
	w.runner.end(w.stack().Status.Run.ID, run.Succeeded, "")
	w.runner.results[w.stack().Status.Run.ID].Plan = &made
	w.mustReconcile()
	before := w.stack()
	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.ApproveAnnotation: made.Digest()} })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Approved", made.Digest()))

	w.edit(func(s *v1.Stack) { s.Annotations[v1.RejectAnnotation] = made.Digest() })
	w.endRun(run.Cancelled, "withdrawn", run.Changes{})
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil(), "the plan is rejected")
	g.Expect(stack.Status.LastRun).To(Equal(before.Status.LastRun))
	g.Expect(stack.Status.Plan).To(HaveField("State", v1.PlanRejected))
	g.Expect(conditions.IsReady(stack)).To(BeTrue())

	w.edit(func(s *v1.Stack) { delete(s.Annotations, v1.RejectAnnotation) })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Approved", made.Digest()))
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Locked, "someone has the lock")
	w.runner.results[id].EndedAt = w.Now()
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(w.stack().Status.Drift.Message).To(ContainSubstring("someone has the lock. It is tried again, at spec.retryInterval at the latest"))
	w.passTime(w.stack().GetRetryInterval())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(And(HaveField("Drift", some.Found.Digest()), HaveField("Approved", made.Digest())), "no check comes first")
}

func TestDriftIsCorrectedByTheCurrentSpec(t *testing.T) {
	g := NewWithT(t)
	w := driftWorld(t, func(s *v1.Stack) { s.Spec.Drift.Mode, s.Spec.Suspend = v1.DriftCorrect, true })
	w.passTime(66 * time.Minute)
	w.mustReconcile()
	some := drifted(`"two"`)
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it is suspended")

	w.edit(func(s *v1.Stack) {
		s.Generation++
		s.Spec.Suspend, s.Spec.Drift.Ignore = false, []v1.IgnoredDrift{{Type: "lab:index:Thing"}}
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckDrift), "what has drifted may be ignored by now")
	w.endCheck(run.Succeeded, "", &run.Drift{Ignored: 1})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.edit(func(s *v1.Stack) { // while it is checked
		s.Generation++
		s.Spec.Drift.Ignore = nil
	})
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckDrift), "the check went by the spec before")
	w.endCheck(run.Succeeded, "", &some)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Drift", some.Found.Digest()))
}
