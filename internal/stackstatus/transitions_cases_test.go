// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// kindOfRun is what a run does, and whether someone has asked for it as a preview.
type kindOfRun struct {
	name      string
	operation v1.Operation
	onRequest bool
	ofDrift   bool
}

var (
	update    = kindOfRun{"update", v1.OperationUpdate, false, false}
	destroy   = kindOfRun{"destroy", v1.OperationDestroy, false, false}
	recovery  = kindOfRun{"recover", v1.OperationRecover, false, false}
	preview   = kindOfRun{"preview", v1.OperationPreview, false, false}
	reading   = kindOfRun{"outputs", v1.OperationOutputs, false, false}
	onRequest = kindOfRun{"preview on request", v1.OperationPreview, true, false}

	propose        = kindOfRun{"propose", v1.OperationPropose, false, false}
	proposeDestroy = kindOfRun{"propose the destroy", v1.OperationProposeDestroy, false, false}

	check       = kindOfRun{"check for drift", v1.OperationCheckDrift, false, false}
	ofDrift     = kindOfRun{"propose to undo drift", v1.OperationPropose, false, true}
	updateDrift = kindOfRun{"undo drift", v1.OperationUpdate, false, true}
)

// statusBefore makes a Stack, from which runs of these kinds may start.
type statusBefore struct {
	name  string
	kinds []kindOfRun
	make  func() *v1.Stack
}

func statusesBefore() []statusBefore {
	of := func(steps ...func(*v1.Stack)) func() *v1.Stack {
		return func() *v1.Stack {
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default", UID: "uid", Generation: 3, Finalizers: []string{v1.StackFinalizer}}}
			stack.Spec.Stack = "dev"
			ofFlux(stack)
			for _, step := range steps {
				step(stack)
			}
			return stack
		}
	}
	runs, deletion := []kindOfRun{update, preview, reading, onRequest}, []kindOfRun{destroy, recovery, update}
	inSync, interrupted := ended(update, run.Succeeded), lost(update)
	failed, proposed := ended(update, run.Failed), ended(propose, run.Succeeded)
	always := require(v1.ApprovalAlways)
	return []statusBefore{
		{"never ran", runs, of()},
		{"in sync", append(runs, recovery), of(inSync)},
		{"edited since", []kindOfRun{update, preview}, of(inSync, func(s *v1.Stack) { s.Generation++ })},
		{"failed three times", runs, of(inSync, failed, failed, failed)},
		{"missed its artifact", runs, of(inSync, missed)},
		{"locked", []kindOfRun{update, recovery}, of(inSync, ended(update, run.Locked))},
		{"interrupted twice", []kindOfRun{recovery, preview, onRequest}, of(inSync, interrupted, interrupted)},
		{"recovery failed", []kindOfRun{recovery}, of(inSync, interrupted, ended(recovery, run.Failed))},
		{"recovered", []kindOfRun{update}, of(inSync, interrupted, ended(recovery, run.Succeeded))},
		{"unknown creates", []kindOfRun{recovery, preview}, of(inSync, unknown)},
		{"unknown creates to clear", []kindOfRun{recovery}, of(inSync, unknown, func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })},
		{"cancelled on request", append(runs, recovery), of(inSync, calledOff)},
		{"force requested", runs, of(inSync, requestRun)},
		{"requested after a cancel", []kindOfRun{update}, of(inSync, calledOff, requestRun)},
		{"requested preview waits", []kindOfRun{update, onRequest}, of(inSync, requestPreview)},
		{"previews only", []kindOfRun{preview, update}, of(func(s *v1.Stack) { s.Spec.Preview = true }, ended(preview, run.Succeeded))},
		{"outputs to write", []kindOfRun{update, reading}, of(writeOutputs, inSync, unwrittenOutputs)},
		{"suspended", []kindOfRun{update}, of(inSync, func(s *v1.Stack) { s.Spec.Suspend = true })},
		{"resynced", []kindOfRun{update}, of(inSync, func(s *v1.Stack) { s.Spec.ContinueResyncOnCommitMatch = true })},
		{"applied by the operator", []kindOfRun{update, recovery, preview}, of(byOperator)},
		{"update of the operator in flight", []kindOfRun{update}, of(byOperator, func(s *v1.Stack) { s.Status.CurrentUpdate = &v1.CurrentUpdate{Name: "theirs"} })},
		{"deleted, to be destroyed", deletion, of(inSync, deleted)},
		{"deleted, destroy failed twice", deletion, of(inSync, deleted, ended(destroy, run.Failed), ended(destroy, run.Failed))},
		{"deleted, destroy interrupted", deletion, of(inSync, deleted, lost(destroy))},
		{"deleted, applied by the operator", deletion, of(byOperator, deleted)},
		{"deleted, interrupted and to be kept", deletion, of(inSync, interrupted, deleted, func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })},
		{"needs approvals", []kindOfRun{propose}, of(inSync, always)},
		{"needs approvals, never ran", []kindOfRun{propose}, of(always)},
		{"waits for an approval", []kindOfRun{propose, reading, recovery}, of(inSync, always, proposed)},
		{"waits, another plan is approved", []kindOfRun{propose}, of(inSync, always, proposed, annotate(v1.ApproveAnnotation, "sha256:"+strings.Repeat("0", 64)))},
		{"approved", []kindOfRun{update, propose}, of(inSync, always, proposed, approve)},
		{"approved, failed", []kindOfRun{update}, of(inSync, always, proposed, approve, ended(update, run.Failed))},
		{"rejected", []kindOfRun{propose}, of(inSync, always, proposed, reject)},
		{"waits, and needs no approvals any more", []kindOfRun{update}, of(inSync, always, proposed, require(v1.ApprovalNever))},
		{"needs approvals of what is destructive", []kindOfRun{propose}, of(inSync, require(v1.ApprovalDestructive))},
		{"proposed, needs no approval", []kindOfRun{update}, of(inSync, require(v1.ApprovalDestructive), proposed)},
		{"proposed, needs no approval, failed", []kindOfRun{update}, of(inSync, require(v1.ApprovalDestructive), proposed, ended(update, run.Failed))},
		{"applied what was approved", []kindOfRun{propose}, of(inSync, always, proposed, approve, ended(update, run.Succeeded))},
		{"checked for drift", []kindOfRun{check}, of(inSync, watch(v1.DriftReport))},
		{"drifted", []kindOfRun{check, update}, of(inSync, watch(v1.DriftReport), ended(check, run.Succeeded))},
		{"drifted, and to be corrected", []kindOfRun{updateDrift, update}, of(inSync, watch(v1.DriftCorrect), ended(check, run.Succeeded))},
		{"corrected", []kindOfRun{check}, of(inSync, watch(v1.DriftCorrect), ended(check, run.Succeeded), ended(updateDrift, run.Succeeded))},
		{"drifted, and to be proposed", []kindOfRun{ofDrift}, of(inSync, watch(v1.DriftPropose), ended(check, run.Succeeded))},
		{"drifted, and approved", []kindOfRun{updateDrift, update}, of(inSync, watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, run.Succeeded), approve)},
		{"drifted, and rejected", []kindOfRun{check}, of(inSync, watch(v1.DriftPropose), ended(check, run.Succeeded), ended(ofDrift, run.Succeeded), reject)},
		{"deleted, needs approvals", []kindOfRun{proposeDestroy}, of(inSync, always, deleted)},
		{"deleted, approved", []kindOfRun{destroy, proposeDestroy}, of(inSync, always, deleted, ended(proposeDestroy, run.Succeeded), approve)},
	}
}

// ended is a run of earlier inputs that has ended.
func ended(kind kindOfRun, outcome run.Outcome) func(*v1.Stack) {
	return func(s *v1.Stack) {
		startRun(s, kind, "earlier", "sha256:inputs")
		s.Status.Run.Generation = 3
		early := ofRun(outcome)
		early.StartedAt, early.EndedAt = started.Add(-time.Hour), started.Add(-time.Hour+14*time.Second)
		AbsorbResult(s, early)
	}
}

// watch looks for drift each hour since an hour before the tests.
func watch(mode v1.DriftMode) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.CreationTimestamp = metav1.Time{Time: started.Add(-time.Hour)}
		s.Spec.Drift = &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}, Mode: mode}
	}
}

func require(what v1.ApprovalRequirement) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: what} }
}

func annotate(name, value string) func(*v1.Stack) {
	return func(s *v1.Stack) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, name, value) }
}

func approve(s *v1.Stack) {
	annotate(v1.ApproveAnnotation, s.Status.Plan.Digest)(s)
	annotate(v1.ApprovedByAnnotation, "jane@example.com")(s)
}

func reject(s *v1.Stack) {
	annotate(v1.RejectAnnotation, s.Status.Plan.Digest)(s)
	annotate(v1.ApprovedByAnnotation, "jane@example.com")(s)
	annotate(v1.RejectReasonAnnotation, "not on a Friday")(s)
}

func lost(kind kindOfRun) func(*v1.Stack) {
	return func(s *v1.Stack) {
		startRun(s, kind, "earlier", "sha256:inputs")
		MarkInterrupted(s, "The controller is gone", started.Add(-time.Minute))
	}
}

func missed(s *v1.Stack) {
	startRun(s, update, "earlier", "sha256:new")
	record := *s.Status.Run
	AbsorbResult(s, Classify(s, &record, ofRun(run.ArtifactGone)))
}

func unknown(s *v1.Stack) {
	startRun(s, update, "earlier", "sha256:inputs")
	result := ofRun(run.Failed)
	result.UnknownCreates = []string{"urn:b"}
	AbsorbResult(s, result)
}

func calledOff(s *v1.Stack) {
	startRun(s, update, "earlier", "sha256:inputs")
	s.Status.Run.Cancel = v1.CancelGently
	AbsorbResult(s, ofRun(run.Cancelled))
}

func requestRun(s *v1.Stack) {
	s.Annotations = map[string]string{meta.ReconcileRequestAnnotation: "now", meta.ForceRequestAnnotation: "now", v1.ReconcileRequestAnnotation: "theirs"}
}

func requestPreview(s *v1.Stack) {
	s.Annotations = map[string]string{v1.PreviewRequestAnnotation: "please"}
	s.Status.Preview = &v1.PreviewStatus{Request: "please", Message: "Waiting for a slot"}
}

func writeOutputs(s *v1.Stack) { s.Spec.WriteOutputsToSecret = &v1.OutputsSecret{Name: "outputs"} }

func unwrittenOutputs(s *v1.Stack) {
	s.Status.OutputsSecret = OutputsFailed(s, "no rights", s.Generation, started.Add(time.Minute))
	s.Status.OutputsSecret.Failure.Failures = 2
}

func byOperator(s *v1.Stack) {
	operatorV2(s, gitRevision)
	s.Status.ProjectInfo = &v1.ProjectInfo{Name: "app", Runtime: "yaml"}
}

func deleted(s *v1.Stack) {
	s.DeletionTimestamp, s.Spec.DestroyOnFinalize = &metav1.Time{Time: started.Add(-time.Minute)}, true
}

// wayToEnd is a way to end the run in flight, or to change what the status says about it.
// Without kinds, it is one for runs of every kind.
type wayToEnd struct {
	name    string
	outcome run.Outcome
	kinds   []v1.Operation
	do      func(*v1.Stack) *Event
	// only limits it to some of the Stacks with a run in flight. Nil is all.
	only func(*v1.Stack) bool
}

func waysToEnd() []wayToEnd {
	var ways []wayToEnd
	add := func(name string, outcome run.Outcome, change func(*v1.Stack, *run.Result), kinds ...v1.Operation) {
		ways = append(ways, wayToEnd{name: name, outcome: outcome, kinds: kinds, do: func(s *v1.Stack) *Event {
			result := ofRun(outcome)
			change(s, result)
			return absorbAll(s, result)
		}})
	}
	for _, outcome := range run.Outcomes() {
		if outcome == run.PlanChanged {
			continue // only where there is a plan, below
		}
		add(string(outcome), outcome, func(*v1.Stack, *run.Result) {})
	}
	stopped := func(s *v1.Stack, _ *run.Result) { s.Status.Run.Cancel = v1.CancelGently }
	killed := func(_ *v1.Stack, r *run.Result) { r.Interrupted = true }
	add("unchanged", run.Succeeded, func(_ *v1.Stack, r *run.Result) { r.Changes = run.Changes{Same: 3} })
	add("succeeded with gaps", run.Succeeded, func(_ *v1.Stack, r *run.Result) {
		r.Changes, r.Outputs, r.OutputsMissed, r.LeftOut, r.Warnings = run.Changes{Unknown: true}, nil, true, 2, []string{"go.sum did not fit"}
	})
	add("emptied", run.Succeeded, func(_ *v1.Stack, r *run.Result) { r.Emptied, r.Backend = true, "" }, v1.OperationDestroy, v1.OperationRecover)
	add("forgot creations", run.Succeeded, func(_ *v1.Stack, r *run.Result) { r.Forgotten = []string{"urn:b"} }, v1.OperationRecover)
	add("failed before it found the stack", run.Failed, func(_ *v1.Stack, r *run.Result) {
		*r = run.Result{Outcome: run.Failed, Message: r.Message, StartedAt: r.StartedAt, EndedAt: r.EndedAt}
	})
	add("failed with unknown creates", run.Failed, func(_ *v1.Stack, r *run.Result) { r.UnknownCreates = []string{"urn:a"} })
	add("pod failed before its work", run.PodFailed, func(_ *v1.Stack, r *run.Result) { r.Changes, r.Outputs = run.Changes{}, nil })
	add("artifact gone, but began", run.ArtifactGone, func(_ *v1.Stack, r *run.Result) { r.Changes = run.Changes{Created: 1} })
	add("killed", run.Failed, killed)
	add("stopped on request", run.Cancelled, stopped)
	add("stopped on request, killed", run.Cancelled, func(s *v1.Stack, r *run.Result) { stopped(s, r); killed(s, r) })
	add("stopped on request, too late", run.Succeeded, stopped)
	add("succeeded, edited meanwhile", run.Succeeded, func(s *v1.Stack, _ *run.Result) { s.Generation++ })
	add("failed, edited meanwhile", run.Failed, func(s *v1.Stack, _ *run.Result) { s.Generation++ })
	add("failed, edited and suspended meanwhile", run.Failed, func(s *v1.Stack, _ *run.Result) { s.Generation++; s.Spec.Suspend = true })
	add("found another plan", run.PlanChanged, func(_ *v1.Stack, r *run.Result) {
		r.Changes, r.Message, r.Plan = run.Changes{}, "", planMade()
		r.Plan.State = "sha256:other"
	}, v1.OperationUpdate, v1.OperationDestroy)
	ways[len(ways)-1].only = func(s *v1.Stack) bool { return s.Status.Run.Approved != "" }
	return append(ways,
		wayToEnd{name: "lost", do: func(s *v1.Stack) *Event {
			MarkInterrupted(s, "The controller is gone", started.Add(15*time.Second))
			return nil
		}},
		wayToEnd{name: "lost, to be stopped", do: func(s *v1.Stack) *Event {
			s.Status.Run.Cancel = v1.CancelNow
			MarkInterrupted(s, "The controller is gone", started.Add(15*time.Second))
			return nil
		}},
		wayToEnd{name: "withdrawn", do: func(s *v1.Stack) *Event { DropRecord(s); return nil }},
		wayToEnd{name: "left at shutdown", do: func(s *v1.Stack) *Event { MarkLeftInFlight(s); return nil }},
		wayToEnd{name: "held elsewhere", do: func(s *v1.Stack) *Event { MarkHeldElsewhere(s, HeldText(s)); return nil }},
		wayToEnd{name: "in progress", do: func(s *v1.Stack) *Event {
			MarkProgress(s, run.Progress{Done: run.Changes{Created: 1}, InFlight: 2}, started.Add(15*time.Second))
			return nil
		}},
	)
}

// ofRun is what a run says that has created resources, as far as it got.
func ofRun(outcome run.Outcome) *run.Result {
	result := &run.Result{
		Outcome: outcome, Changes: run.Changes{Created: 2, Same: 1}, Project: run.Project{Name: "app", Runtime: "yaml"}, Backend: "file:///state",
		Outputs: map[string]json.RawMessage{"url": json.RawMessage(`"http://example.com"`)}, StartedAt: started, EndedAt: started.Add(14 * time.Second),
	}
	if outcome == run.Succeeded {
		result.Plan, result.Drift = planMade(), &run.Drift{Ignored: 1, Found: plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, URN: "urn:b"}}}}
	}
	if outcome != run.Succeeded {
		result.Message, result.Outputs = "boom", nil
	}
	if outcome == run.ArtifactGone {
		result.Changes = run.Changes{}
	}
	return result
}

// planMade is a plan that deletes nothing.
func planMade() *plan.Plan {
	return &plan.Plan{Steps: []plan.Step{{Op: plan.OpCreate, URN: "urn:a"}, {Op: plan.OpUpdate, URN: "urn:b"}}, State: "sha256:state"}
}

// absorbAll absorbs a result as the reconciler does, and returns the event, if there is one.
func absorbAll(s *v1.Stack, result *run.Result) *Event {
	record := *s.Status.Run
	result.Operation, result.Approved = record.Operation, record.Approved
	result = Classify(s, &record, result)
	beside := Published{OutputsSecret: OutputsUnwritten(s, &record, result), Preview: PreviewAfter(s, &record, result)}
	if IsProposal(&record, result) {
		beside.Plan = PlanDetails{ConfigMap: "app-plan-1", ContentDigest: "sha256:details"}
	}
	Absorb(s, result, beside)
	if !run.KindOfRecord(&record).Reconciles {
		return nil
	}
	event := EndEvent(s, record, result)
	return &event
}
