// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func now() time.Time { return at("2026-03-02T10:16:12Z").Time }

// proposing returns a Stack that proposes a plan, and the plan.
func proposing(t *testing.T) (*v1.Stack, *plan.Plan) {
	stack := stackOf(t, "fleet", "network")
	proposed := &plan.Plan{Steps: []plan.Step{
		{Op: plan.OpReplace, URN: "urn:pulumi:dev::network::lab:index:Thing::a", Type: "lab:index:Thing", Digest: "sha256:2", Properties: []plan.Property{
			{Path: "key", Kind: plan.KindUpdate, Change: plan.Change{Old: json.RawMessage(`"[secret]"`), New: json.RawMessage(`"[secret]"`), Secret: true, Digest: "sha256:3"}}}},
		{Op: plan.OpCreate, URN: "urn:pulumi:dev::network::lab:index:Thing::b", Type: "lab:index:Thing"},
	}}
	stack.Status.Plan = &v1.PlanStatus{Digest: proposed.Digest(), Operation: v1.OperationUpdate, State: v1.PlanProposed, Run: "01", Revision: "main@sha1:1",
		ProposedAt: at("2026-03-02T10:15:00Z"), Unbound: "it has a dynamic provider", ResourceChanges: v1.ResourceChanges{Created: 1, Replaced: 1}}
	stack.Status.Conditions[0].Status, stack.Status.Conditions[0].Reason = metav1.ConditionFalse, v1.ApprovalRequiredReason
	return stack, proposed
}

func TestTheDetailOfAStackThatProposesAPlan(t *testing.T) {
	g := NewWithT(t)
	stack, proposed := proposing(t)
	detail := DetailOf(Input{Stack: stack, Plan: proposed, Allowed: All(), Now: now()})
	g.Expect(detail.Stack.State).To(Equal(Waiting))
	g.Expect(detail.Next).To(And(ContainSubstring("of an update to revision main@sha1:1: 1 to create, 1 to replace"), ContainSubstring("flux pulumi approve stack network -n apps")))
	g.Expect(detail.Proposal).To(Equal(&Proposal{Digest: proposed.Digest(), ProposedAt: "2026-03-02T10:15:00Z", Run: "01", Revision: "main@sha1:1",
		Message: "1 to create, 1 to replace\nPulumi itself cannot be held to this plan: it has a dynamic provider"}))
	g.Expect(detail.Conditions[0].State).To(Equal(Waiting))
	g.Expect(detail.May).To(Equal(May{Approve: true, Reject: true, Reconcile: true, Preview: true, Suspend: true}))
	unread := DetailOf(Input{Stack: stack, Warnings: []string{"you may not read ConfigMaps"}})
	g.Expect(unread.Proposal.Message).To(HavePrefix("1 to create, 1 to replace"))
	g.Expect(unread.May).To(Equal(May{}))
	g.Expect(unread.Warnings).To(Equal([]string{"you may not read ConfigMaps"}))

	answer := PlanAnswerOf(stack, proposed, "")
	g.Expect(answer.Message).To(ContainSubstring("Pulumi itself cannot be held"))
	data, err := json.Marshal(answer)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).To(ContainSubstring(`"steps":[{"op":"replace"`))
	g.Expect(string(data)).NotTo(Or(ContainSubstring("sha256:2"), ContainSubstring("sha256:3")))
	g.Expect(proposed.Steps[0].Digest).NotTo(BeEmpty(), "the plan stays as it is")
	g.Expect(PlanAnswerOf(stack, nil, "it is gone").Message).To(HaveSuffix("it is gone"))
	g.Expect(PlanAnswerOf(stackOf(t, "fleet", "unseen"), nil, "")).To(Equal(PlanAnswer{Message: "no plan of Stack unseen waits for an approval"}))
}

func TestWhatAPersonMayDoIsWhatMakesSenseNow(t *testing.T) {
	all := May{Reconcile: true, Preview: true, Suspend: true}
	with := func(change func(may *May)) May { may := all; change(&may); return may }
	for name, tt := range map[string]struct {
		change func(stack *v1.Stack)
		want   May
	}{
		"decided already":  {func(s *v1.Stack) { s.Annotations = map[string]string{v1.ApproveAnnotation: s.Status.Plan.Digest} }, with(func(may *May) { may.Reject = true })},
		"rejected":         {func(s *v1.Stack) { s.Status.Plan.State = v1.PlanRejected }, with(func(may *May) { may.Approve = true })},
		"applied":          {func(s *v1.Stack) { s.Status.Plan.State = v1.PlanApplied }, all},
		"another approval": {func(s *v1.Stack) { s.Annotations = map[string]string{v1.ApproveAnnotation: "sha256:0"} }, with(func(may *May) { may.Approve, may.Reject = true, true })},
		"a run applies it": {func(s *v1.Stack) {
			s.Status.Run = &v1.RunStatus{Operation: v1.OperationUpdate, Approved: s.Status.Plan.Digest}
		}, with(func(may *May) { may.Cancel = true })},
		"it is cancelled": {func(s *v1.Stack) {
			s.Status.Plan, s.Status.Run = nil, &v1.RunStatus{Operation: v1.OperationUpdate, Cancel: v1.CancelGently}
		}, all},
		"it cannot be":          {func(s *v1.Stack) { s.Status.Plan, s.Status.Run = nil, &v1.RunStatus{Operation: v1.OperationOutputs} }, all},
		"suspended":             {func(s *v1.Stack) { s.Status.Plan, s.Spec.Suspend = nil, true }, May{Resume: true}},
		"suspended, and a plan": {func(s *v1.Stack) { s.Spec.Suspend = true }, May{Resume: true, Approve: true, Reject: true}},
	} {
		stack, _ := proposing(t)
		tt.change(stack)
		NewWithT(t).Expect(DetailOf(Input{Stack: stack, Allowed: All()}).May).To(Equal(tt.want), name)
	}
}

func TestTheDetailOfAStackWithARun(t *testing.T) {
	g := NewWithT(t)
	stack := stackOf(t, "fleet", "cluster")
	progress := &Progress{ID: "01jnb2", Done: 1, Steps: []Step{{Op: "create", Name: "a", Type: "t", State: StepDone, Seconds: 3}, {Op: "create", Name: "b", Type: "t", State: StepRunning}}}
	// The process that has the run is not this one, which is all that an explanation knows.
	explained := &observe.Explanation{Decision: decide.Decision{Action: decide.MarkHeldElsewhere, After: 10 * time.Second}}
	detail := DetailOf(Input{Stack: stack, Now: now(), Progress: progress, Explained: explained})
	g.Expect(detail.Next).To(HavePrefix("The update continues. After it, "))
	g.Expect(detail.Run).To(Equal(&Run{Progress: *progress, Operation: "update", StartedAt: "2026-03-02T10:15:42Z", Revision: stack.Status.Run.Revision,
		Message: "Running update at revision " + stack.Status.Run.Revision + " for 30s: 3 created, 2 in progress after 10s"}))
	approved := &plan.Plan{Steps: make([]plan.Step, 5)}
	stack.Status.Plan = &v1.PlanStatus{Digest: "sha256:1", State: v1.PlanApproved}
	stack.Status.Run.Approved = "sha256:1"
	progress.ID = "an earlier run"
	detail = DetailOf(Input{Stack: stack, Now: now(), Plan: approved, Progress: progress})
	g.Expect(detail.Run.Progress).To(Equal(Progress{ID: "01jnb2"}))
	g.Expect(detail.Run.Total).To(Equal(5))
	g.Expect(detail.Proposal).To(BeNil(), "nobody has to decide")
}

func TestTheDetailSaysWhatTheControllerDecides(t *testing.T) {
	g := NewWithT(t)
	explained := &observe.Explanation{
		Decision: decide.Decision{Action: decide.Wait, Reason: "DependencyNotReady", Message: "Dependencies are not ready: a", After: time.Minute, Duties: []decide.Duty{decide.RestoreFinalizer}},
		Checks:   []decide.Check{{About: "suspension", Found: "not suspended"}, {About: "dependencies", Found: "not ready: a", Decided: true}},
		Values:   []observe.ExplainedValue{{Kind: "config", Name: "token", Value: "[secret]", From: "spec.secretsRef.token"}},
		Missing:  []string{"Secret keys"}, Unreadable: []string{"Secrets"},
	}
	detail := DetailOf(Input{Stack: stackOf(t, "fleet", "unseen"), Explained: explained})
	g.Expect(detail.Next).To(Equal("Dependencies are not ready: a. Next reconcile in 1m0s"))
	g.Expect(detail.Checks).To(HaveLen(3))
	g.Expect(detail.Checks[:2]).To(Equal([]Check{{About: "suspension", Found: "not suspended", Says: "continue"},
		{About: "dependencies", Found: "not ready: a", Says: "Wait DependencyNotReady, next reconcile in 1m0s", Decides: true}}))
	g.Expect(detail.Checks[2].Says).To(Equal("RestoreFinalizer"))
	g.Expect(detail.Values).To(Equal([]Value{{Kind: "config", Name: "token", Value: "[secret]", From: "spec.secretsRef.token"}}))
	g.Expect(detail.Warnings).To(Equal([]string{"not resolved: Secret keys", "you are not allowed to read this, the controller may decide differently: Secrets"}))
	explained.Decision = decide.Decision{Action: decide.Start, Operation: run.Update}
	explained.Checks[1] = decide.Check{About: "inputs", Found: "never run", Decided: true}
	g.Expect(DetailOf(Input{Stack: stackOf(t, "fleet", "unseen"), Explained: explained}).Next).To(Equal("Start update (inputs: never run)"))
}

func TestTheHistoryAndTheOutputsOfAStack(t *testing.T) {
	g := NewWithT(t)
	stack := stackOf(t, "steered", "network")
	stack.Status.Outputs["nested"] = apiextensionsv1.JSON{Raw: []byte(`{"user": "me", "key": "[secret]"}`)}
	detail := DetailOf(Input{Stack: stack})
	g.Expect(detail.Outputs.Items).To(Equal([]Output{{Name: "nested", Value: `{"user":"me","key":"[secret]"}`}, {Name: "password", Secret: true}, {Name: "ports", Value: "[80,443]"}, {Name: "url", Value: "https://example.com"}}))
	g.Expect(detail.History).To(HaveLen(4))
	last := detail.History[0]
	g.Expect(last.Message).To(Equal("1 updated, 3 unchanged\n2 runs"))
	g.Expect([]int{last.Updated, last.Created}).To(Equal([]int{1, 0}))
	var states []string
	for _, one := range detail.History {
		states = append(states, one.Operation+" "+one.State)
	}
	g.Expect(states).To(Equal([]string{"update Succeeded", "recover Succeeded", "update Interrupted", "update Failed"}))
	g.Expect(detail.History[3].StartedAt).To(Equal("2026-03-01T10:14:40Z"))

	kept := &records.Records{Entries: meta.History{{LastReconciled: at("2026-03-02T10:15:42Z"), LastReconciledStatus: v1.CancelRequestedReason, TotalReconciliations: 1,
		Metadata: map[string]string{"operation": "update", "run": "02", "changedIn": "02", "cause": "approval", "approvedBy": "jane", "message": "cancelled"}}}}
	g.Expect(DetailOf(Input{Stack: stack, Records: kept}).History).To(Equal([]EndedRun{{ID: "02", Operation: "update", State: "Cancelled", Reason: v1.CancelRequestedReason,
		EndedAt: "2026-03-02T10:15:42Z", ApprovedBy: "jane", Message: "cancelled\ncause: approval", HasPlan: true}}))
}

func TestWhatARunHasChanged(t *testing.T) {
	g := NewWithT(t)
	entry := meta.Snapshot{LastReconciledStatus: meta.ReconciliationSucceededReason, Metadata: map[string]string{"run": "03", "changedIn": "02,01"}}
	created := &plan.Plan{Steps: []plan.Step{{Op: plan.OpCreate, URN: "a"}}}
	changes := []records.Change{{Run: "02", Plan: created}, {Run: "01", Message: "the details were dropped"}}
	log := &run.Log{LeftOut: 2, Lines: []run.LogLine{{At: now(), Text: "one\x1b[2J"}}}
	g.Expect(RunAnswerOf(entry, changes, "02", log)).To(Equal(RunAnswer{Plan: done(created), Message: "1 created", Log: "... 2 lines before\n2026-03-02T10:16:12Z one\\x1b[2J\n"}))
	g.Expect(RunAnswerOf(entry, changes, "01", nil)).To(Equal(RunAnswer{Message: "the details were dropped"}))
	g.Expect(RunAnswerOf(entry, changes, "03", nil).Message).To(Equal("run 02: 1 created"), "the last of the runs that share the entry has changed nothing")
	g.Expect(RunAnswerOf(entry, nil, "03", nil).Message).To(Equal("no resources were changed"))
}

func TestDriftAndFacts(t *testing.T) {
	g := NewWithT(t)
	stack := stackOf(t, "fleet", "network")
	stack.Spec.Backend, stack.Spec.ProjectRepo = "https://me:hunter2@api.example.com", "https://me:hunter2@git.example.com"
	stack.Status.ProjectInfo = &v1.ProjectInfo{Backend: "https://api.example.com"}
	checked := at("2026-03-02T10:15:42Z")
	stack.Status.Drift = &v1.DriftStatus{Result: v1.DriftDetectedReason, Changed: 2, Ignored: 1, Digest: "sha256:1", LastCheckedAt: &checked, Since: &checked}
	detail := DetailOf(Input{Stack: stack})
	g.Expect(detail.Drift).To(Equal(&Drift{Result: "2 changed outside of Pulumi (1 ignored)", Changed: 2, Ignored: 1, LastCheckedAt: "2026-03-02T10:15:42Z", Since: "2026-03-02T10:15:42Z"}))
	g.Expect(detail.Spec).To(ContainElements(Fact{"Source", "GitRepository/flux-system/infra"}, Fact{"Directory", "network"}, Fact{"Backend", "https://api.example.com"}, Fact{"Interval", "10m0s"}))
	data, err := json.Marshal(detail)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).NotTo(ContainSubstring("hunter2"))
	stack.Status.Drift = &v1.DriftStatus{Result: v1.DriftCheckFailedReason, Message: "no such bucket"}
	g.Expect(DetailOf(Input{Stack: stack}).Drift).To(Equal(&Drift{Result: "The last check for drift has failed", Message: "no such bucket"}))
	g.Expect(DriftAnswerOf(nil, "it is gone")).To(Equal(DriftAnswer{Message: "it is gone"}))
}

func TestADetailIsBoundedAndHasNoNullInPlaceOfAList(t *testing.T) {
	g := NewWithT(t)
	stack, long := stackOf(t, "steered", "network"), strings.Repeat("long ", 1<<20)
	stack.Status.Conditions[0].Message = long
	stack.Status.Outputs["long"] = apiextensionsv1.JSON{Raw: []byte(`"` + long + `"`)}
	stack.Status.History[0].Metadata["message"] = long
	warnings := make([]string, 2*maxItems)
	data, err := json.Marshal(DetailOf(Input{Stack: stack, Warnings: warnings}))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(data)).To(BeNumerically("<", 100<<10))
	for _, value := range []any{DetailOf(Input{Stack: &v1.Stack{}}), RowOf(&v1.Stack{}), EventsOf(nil), LogsOf(nil, ""), ResourcesOf(&v1.Stack{}, nil, "")} {
		data, err := json.Marshal(value)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(data)).NotTo(ContainSubstring("null"))
	}
}

func TestEventsAreNewestFirst(t *testing.T) {
	g := NewWithT(t)
	events := EventsOf([]corev1.Event{
		{Reason: "a", LastTimestamp: at("2026-03-02T10:15:42Z"), Type: "Normal", Message: "first", Count: 3},
		{Reason: "b", EventTime: metav1.NewMicroTime(at("2026-03-02T10:16:42Z").Time), Type: "Warning", Message: "last"},
		{Reason: "c", Series: &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(at("2026-03-02T10:16:00Z").Time)}},
	})
	g.Expect(events.Events).To(Equal([]Event{
		{At: "2026-03-02T10:16:42Z", Type: "Warning", Reason: "b", Message: "last", Count: 1},
		{At: "2026-03-02T10:16:00Z", Reason: "c", Count: 7},
		{At: "2026-03-02T10:15:42Z", Type: "Normal", Reason: "a", Message: "first", Count: 3}}))
}
