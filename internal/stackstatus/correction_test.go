// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestWhyDriftIsNotUndone(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	for _, step := range []func(*v1.Stack){
		ended(update, run.Succeeded), watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, run.Failed),
	} {
		step(stack)
	}
	found := stack.Status.Drift.Digest
	g.Expect(stack.Status.Drift).To(And(HaveField("Message", "Nothing could be proposed that undoes the drift: boom"), HaveField("AttemptedDigest", found)))
	ended(check, run.Succeeded)(stack)
	g.Expect(stack.Status.Drift.Message).To(Equal("Nothing could be proposed that undoes the drift: boom"), "it is the same drift")
	g.Expect(observeDrift(stack, started).Correction.Drift).To(BeEmpty())

	stack.Annotations = map[string]string{v1.CheckDriftAnnotation: "now"}
	startRun(stack, check, "asked", "sha256:inputs")
	stack.Status.Run.CheckRequest = CheckRequest(stack)
	stack.Status.Drift.CheckPending = true
	AbsorbResult(stack, ofRun(run.Succeeded))
	g.Expect(stack.Status.Drift).To(And(HaveField("Message", ""), HaveField("AttemptedDigest", ""), HaveField("CheckPending", false)))
	g.Expect(observeDrift(stack, started).Correction.Drift).To(Equal(found), "it is tried again on request")
}

func TestDriftThatWasOnlyReportedIsCheckedBeforeItIsUndone(t *testing.T) {
	for _, mode := range []v1.DriftMode{v1.DriftPropose, v1.DriftCorrect} {
		g := NewWithT(t)
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
		for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftReport), ended(check, run.Succeeded)} {
			step(stack)
		}
		found := stack.Status.Drift.Digest
		g.Expect(found).NotTo(BeEmpty())
		g.Expect(observeDrift(stack, started)).To(And(HaveField("Pending", false), HaveField("Correction.Drift", "")))

		watch(mode)(stack)
		g.Expect(observeDrift(stack, started)).To(And(HaveField("Pending", true), HaveField("Correction.Drift", "")), "a check is due")
		ended(check, run.Succeeded)(stack)
		g.Expect(observeDrift(stack, started)).To(And(HaveField("Pending", false), HaveField("Correction.Drift", found)), "once")
	}
}

func TestAPlanThatWaitsIsDoneOnceTheModeIsCorrect(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, run.Succeeded)} {
		step(stack)
	}
	stack.Status.Plan.ConfigMap = "app-plan-1"
	g.Expect(decided(stack)).To(Equal("InSync"), "it waits")
	watch(v1.DriftCorrect)(stack)
	g.Expect(decided(stack)).To(Equal("Start update of drift"))
}

func TestACorrectionThatDoesNotSucceed(t *testing.T) {
	const (
		postponed = ". It is tried again after the next check for drift"
		retried   = ". It is tried again, at spec.retryInterval at the latest"
	)
	ends := func(outcome run.Outcome, changes ...func(*v1.Stack, *run.Result)) func(*v1.Stack) {
		return func(s *v1.Stack) {
			result := ofRun(outcome)
			for _, change := range changes {
				change(s, result)
			}
			AbsorbResult(s, result)
		}
	}
	killed := func(_ *v1.Stack, r *run.Result) { r.Interrupted = true }
	cancelled := func(s *v1.Stack, _ *run.Result) { s.Status.Run.Cancel = v1.CancelGently }
	for name, test := range map[string]struct {
		end func(*v1.Stack)
		// next and later are decided after the end, and after a check that finds the same drift.
		next, later, message string
	}{
		"failed":           {ends(run.Failed), "InSync and a check", "InSync", "The update that undoes the drift failed: boom"},
		"timed out":        {ends(run.TimedOut), "InSync and a check", "InSync", "The update that undoes the drift failed: boom"},
		"cancelled":        {ends(run.Cancelled, cancelled), "InSync and a check", "InSync", "The update that undoes the drift was cancelled on request"},
		"locked":           {ends(run.Locked), "InSync", "Start update of drift", "The update that undoes the drift could not run: boom" + retried},
		"no pod":           {ends(run.PodFailed), "InSync", "Start update of drift", "The update that undoes the drift could not run: boom" + retried},
		"against a policy": {ends(run.PolicyViolation), "InSync", "Start update of drift", "The update that undoes the drift could not run: boom" + postponed},
		"stopped":          {ends(run.Cancelled), "Start update of drift", "Start update of drift", ""},
		"refused":          {DropRecord, "Start update of drift", "Start update of drift", ""},
		"killed":           {ends(run.Failed, killed), "Start recover", "Start update of drift", "The update that undoes the drift was interrupted: boom" + postponed},
		"lost": {func(s *v1.Stack) { MarkInterrupted(s, "the controller is gone", started) }, "Start recover", "Start update of drift",
			"The update that undoes the drift was interrupted: the controller is gone" + postponed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{}
			stack.Generation = 3
			for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftCorrect), ended(check, run.Succeeded)} {
				step(stack)
			}
			before := stack.DeepCopy()
			startRun(stack, updateDrift, "correction", "sha256:inputs")
			test.end(stack)
			g.Expect(stack.Status.LastRun).To(Equal(before.Status.LastRun), "the inputs are still applied")
			g.Expect(stack.Status.RunPending).To(BeFalse())
			g.Expect(stack.Status.CancelledRun).To(BeNil())
			g.Expect(stack.Status.Failures).To(BeZero())
			g.Expect(stack.Status.Drift.Message).To(Equal(test.message))
			g.Expect(decided(stack)).To(Equal(test.next))

			if len(stack.Status.Interrupted) > 0 {
				ended(recovery, run.Failed)(stack)
				ended(recovery, run.Succeeded)(stack)
				g.Expect(decided(stack)).To(Equal("InSync"), "no update of all resources follows the recovery")
			}
			ended(check, run.Succeeded)(stack)
			g.Expect(decided(stack)).To(Equal(test.later))
			if test.later == "InSync" {
				g.Expect(stack.Status.Drift.Message).To(Equal(test.message))
			}
		})
	}
}

// decided says what is decided with the inputs that are applied.
func decided(stack *v1.Stack) string {
	seen := Observation(stack, started.Add(time.Second))
	seen.Digest, seen.HasFinalizer = "sha256:inputs", true
	d := decide.Next(seen)
	text := d.String()
	if d.Drift != "" {
		text += " of drift"
	}
	if d.Check {
		text += " and a check"
	}
	return text
}

// found has a check in flight find these resources.
func found(urns ...string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		startRun(s, check, "check", "sha256:inputs")
		result := ofRun(run.Succeeded)
		result.Drift.Found.Steps = nil
		for _, urn := range urns {
			result.Drift.Found.Steps = append(result.Drift.Found.Steps, plan.Step{Op: plan.OpUpdate, URN: urn})
		}
		AbsorbResult(s, result)
	}
}

func TestTheDriftAfterACorrection(t *testing.T) {
	failed := ended(check, run.Failed)
	for name, test := range map[string]struct {
		after []func(*v1.Stack)
		want  string
	}{
		"the same":                     {[]func(*v1.Stack){found("urn:a", "urn:b")}, "InSync"},
		"a part of it":                 {[]func(*v1.Stack){found("urn:a")}, "InSync"},
		"less, and elsewhere":          {[]func(*v1.Stack){found("urn:c")}, "Start update of drift"},
		"as much, and elsewhere":       {[]func(*v1.Stack){found("urn:c", "urn:d")}, "InSync"},
		"as much, elsewhere and later": {[]func(*v1.Stack){found("urn:c", "urn:d"), found("urn:c", "urn:d")}, "Start update of drift"},
		"after a check that failed":    {[]func(*v1.Stack){failed, found("urn:a")}, "InSync"},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &v1.Stack{}
			stack.Generation = 3
			steps := []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftCorrect), found("urn:a", "urn:b"), ended(updateDrift, run.Succeeded)}
			for _, step := range append(steps, test.after...) {
				step(stack)
			}
			NewWithT(t).Expect(decided(stack)).To(Equal(test.want), "%+v", stack.Status.Drift)
		})
	}
}

func TestAProposalThatCouldNotBeMade(t *testing.T) {
	for _, outcome := range []run.Outcome{run.Locked, run.BackendUnavailable, run.PodFailed} {
		g := NewWithT(t)
		stack := &v1.Stack{}
		stack.Generation = 3
		for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, outcome)} {
			step(stack)
		}
		g.Expect(stack.Status.Drift.Message).To(Equal("Nothing could be proposed that undoes the drift: boom. It is tried again, at spec.retryInterval at the latest"))
		g.Expect(stack.Status.Drift.Retry).To(HaveValue(And(HaveField("Failures", int64(1)), HaveField("Reason", outcome.Effect().Reason))))
		g.Expect(decided(stack)).To(Equal("Start propose of drift"), "an hour later")
		startRun(stack, ofDrift, "again", "sha256:inputs")
		AbsorbResult(stack, ofRun(outcome))
		g.Expect(stack.Status.Drift.Retry.Failures).To(Equal(int64(2)))
		g.Expect(decided(stack)).To(Equal("InSync"))
		ended(ofDrift, run.Succeeded)(stack)
		g.Expect(stack.Status.Drift).To(And(HaveField("Retry", BeNil()), HaveField("Message", "")))
	}
}

// A request for a reconcile proposes an update that changes nothing, which takes the place of the plan.
func TestAPlanThatUndoesDriftIsAnnouncedOnce(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Generation = 3
	for _, step := range []func(*v1.Stack){
		ended(update, run.Succeeded), require(v1.ApprovalAlways), watch(v1.DriftPropose), ended(check, run.Succeeded),
	} {
		step(stack)
	}
	does := func(kind kindOfRun, id string, made *plan.Plan) Event {
		startRun(stack, kind, id, "sha256:inputs")
		record, result := *stack.Status.Run, ofRun(run.Succeeded)
		if made != nil {
			result.Plan = made
		}
		AbsorbResult(stack, result)
		return EndEvent(stack, record, result)
	}
	g.Expect(does(ofDrift, "1", nil).Type).To(Equal(corev1.EventTypeNormal))
	waits := stack.Status.Plan.DeepCopy()

	g.Expect(does(propose, "2", &plan.Plan{}).Type).To(Equal(eventv1.EventTypeTrace), "nothing changes")
	startRun(stack, update, "3", "sha256:inputs")
	stack.Status.Run.Approved = stack.Status.Plan.Digest
	AbsorbResult(stack, ofRun(run.Succeeded))
	g.Expect(decided(stack)).To(Equal("Start propose of drift"))
	g.Expect(does(ofDrift, "4", nil).Type).To(Equal(eventv1.EventTypeTrace), "it was announced")
	g.Expect(stack.Status.Plan).To(And(HaveField("Digest", waits.Digest), HaveField("Run", "1"), HaveField("ProposedAt", waits.ProposedAt), HaveField("State", v1.PlanProposed)))
	g.Expect(decided(stack)).To(Equal("InSync"))

	g.Expect(does(propose, "5", &plan.Plan{}).Type).To(Equal(eventv1.EventTypeTrace))
	other := &plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, URN: "urn:other"}}}
	g.Expect(does(ofDrift, "6", other).Type).To(Equal(corev1.EventTypeNormal), "it is another one")
}

func TestAPlanThatUndoesDriftIsRejectedInTheStatus(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Status.Plan = &v1.PlanStatus{Drift: "sha256:a", Digest: "sha256:b", State: v1.PlanProposed}
	stack.Annotations = map[string]string{v1.RejectAnnotation: "sha256:b", v1.RejectReasonAnnotation: "not today", v1.ApprovedByAnnotation: "alice"}
	MarkUnchanged(stack, false, gitRevision, "")
	g.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanRejected), HaveField("ApprovedBy", "alice"), HaveField("Message", "not today")))

	stack.Annotations = nil
	MarkUnchanged(stack, false, gitRevision, "")
	g.Expect(stack.Status.Plan).To(And(HaveField("State", v1.PlanProposed), HaveField("ApprovedBy", ""), HaveField("Message", "")))
}

func TestTheTargetsOfACorrection(t *testing.T) {
	steps := []plan.Step{
		{Op: plan.OpUpdate, URN: "urn:a"}, {Op: plan.OpUpdate, URN: "urn:*"}, {Op: plan.OpUpdate, URN: "urn:[secret]", Digest: "sha256:masked"}, {Op: plan.OpDelete, URN: "urn:d"},
	}
	for name, test := range map[string]struct {
		spec           v1.StackSpec
		want           []string
		wantDependents bool
		message        string
	}{
		"all": {v1.StackSpec{}, []string{"urn:a", "urn:d"}, true, "Not all drift is undone: this leaves out resources with a name that cannot be a target (2)"},
		"targets": {v1.StackSpec{Targets: []string{"urn:**"}}, []string{"urn:a"}, false, "Not all drift is undone: this leaves out resources with a name " +
			"that cannot be a target (2) and resources that would be created again, as spec.targetDependents is not set (1)"},
		"targets and dependents": {v1.StackSpec{Targets: []string{"urn:d"}, TargetDependents: true}, []string{"urn:d"}, true,
			"Not all drift is undone: this leaves out resources with a name that cannot be a target (2)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			targets, dependents, message := correctionTargets(&v1.Stack{Spec: test.spec}, run.Drift{Found: plan.Plan{Steps: steps}})
			g.Expect(targets).To(Equal(test.want))
			g.Expect(dependents).To(Equal(test.wantDependents))
			g.Expect(message).To(Equal(test.message))
		})
	}
}

func TestAPlanThatUndoesDriftWaitsIfItCannotBeMadeAgain(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Generation = 3
	for _, step := range []func(*v1.Stack){
		ended(update, run.Succeeded), watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, run.Succeeded),
	} {
		step(stack)
	}
	made := stack.Status.Plan.DeepCopy()
	g.Expect(observeDrift(stack, started).Correction.Plan).To(HaveValue(And(HaveField("Unwritten", true), HaveField("MadeAt", made.ProposedAt.Time))))

	ended(ofDrift, run.Failed)(stack)
	g.Expect(stack.Status.Plan).To(Equal(made))
	g.Expect(stack.Status.Drift.Message).To(Equal("The plan that undoes the drift could not be made again: boom. It is tried again after the next check for drift"))
	g.Expect(observeDrift(stack, started).Correction.Drift).To(BeEmpty(), "not at once")

	ended(check, run.Succeeded)(stack)
	g.Expect(observeDrift(stack, started).Correction).To(And(HaveField("Drift", stack.Status.Drift.Digest), HaveField("Plan", Not(BeNil()))))
}

// The check and the proposal may run on nodes whose clocks differ.
func TestAPlanThatUndoesDriftIsNotOlderThanTheCheckBeforeIt(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Generation = 3
	for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftPropose), ended(check, run.Succeeded)} {
		step(stack)
	}
	ahead := metav1.Time{Time: stack.Status.Drift.LastCheckedAt.Add(5 * time.Minute)}
	stack.Status.Drift.LastCheckedAt = &ahead
	propose := func() {
		ended(ofDrift, run.Succeeded)(stack)
		stack.Status.Plan.ConfigMap = "app-plan-1"
	}
	propose()
	g.Expect(stack.Status.Plan.ProposedAt).To(Equal(ahead))
	g.Expect(decided(stack)).To(Equal("InSync"), "it is not made again")
	propose()
	g.Expect(stack.Status.Plan.CheckedAt).To(HaveValue(Equal(ahead)))

	stack.Status.Drift.LastCheckedAt = &metav1.Time{Time: ahead.Add(time.Second)}
	g.Expect(decided(stack)).To(Equal("Start propose of drift"), "it is, after the next check")
}

// It is the run that people look for, and has no entry of its own.
func TestTheHistoryNamesACorrectionThatHasFailed(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Generation = 3
	for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftCorrect), ended(check, run.Succeeded)} {
		step(stack)
	}
	before := stack.Status.History.DeepCopy()
	startRun(stack, updateDrift, "correction", "sha256:inputs")
	result := ofRun(run.Failed)
	result.Done = &plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, URN: "urn:a"}}}
	g.Expect(IsInHistory(stack, stack.Status.Run, result)).To(BeTrue())
	AbsorbResult(stack, result)
	g.Expect(history.ChangedIn(stack.Status.History[0].Metadata)).To(HaveExactElements("correction", "earlier"))
	g.Expect(history.Run(stack.Status.History[0].Metadata)).To(Equal("earlier"))
	stack.Status.History[0].Metadata = before[0].Metadata
	g.Expect(stack.Status.History).To(Equal(before))

	g.Expect(IsInHistory(&v1.Stack{}, &v1.RunStatus{Operation: v1.OperationUpdate, Drift: "sha256:drift"}, result)).To(BeFalse(), "no entry can name it")
}
