// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	gitRevision = "main@sha1:67e2c98a60dc92283531412a9e604dd4bae005a9"
	ociRevision = "latest@sha256:2d2b8d1ecb5a4e6d6f6b3f0d8f8b9c4f5a6e7d8c9b0a1f2e3d4c5b6a79808172"
	gitCommit40 = "67e2c98a60dc92283531412a9e604dd4bae005a9"
)

var started = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func stackWithRun(operation v1.Operation) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "default", Generation: 3}}
	stack.Status.ObservedGeneration = 2
	RecordRun(stack, v1.RunStatus{
		ID:         "run-1",
		Operation:  operation,
		Generation: 3,
		Revision:   gitRevision,
		Digest:     "sha256:inputs",
		StartedAt:  metav1.Time{Time: started},
		Holder:     v1.RunHolder{Host: "pod-1", Instance: "a"},
	})
	return stack
}

func result(outcome run.Outcome, message string) *run.Result {
	return &run.Result{
		Outcome:   outcome,
		Message:   message,
		Outputs:   map[string]json.RawMessage{"url": json.RawMessage(`"http://example.com"`)},
		Changes:   run.Changes{Created: 2, Same: 1},
		Project:   run.Project{Name: "app", Runtime: "yaml"},
		StartedAt: started,
		EndedAt:   started.Add(14 * time.Second),
	}
}

func TestRecordRunIsInProgressForKstatus(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)

	g.Expect(conditions.IsUnknown(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Running update at revision " + gitRevision + " with a timeout of 1h0m0s"))
	g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(2), "nothing is applied yet")
	g.Expect(stack.Status.LastAttemptedRevision).To(Equal(gitRevision))
}

func TestAbsorbSuccess(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	stack.Status.Failures = 4

	AbsorbResult(stack, result(run.Succeeded, ""))

	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(conditions.Has(stack, meta.ReconcilingCondition)).To(BeFalse())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + gitRevision))
	g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(3))
	g.Expect(stack.Status.LastAppliedRevision).To(Equal(gitRevision))
	g.Expect(stack.Status.LastAppliedDigest).To(Equal("sha256:inputs"))
	g.Expect(stack.Status.LastAttemptedDigest).To(Equal("sha256:inputs"))
	g.Expect(stack.Status.Failures).To(BeZero())
	g.Expect(stack.Status.Resources).To(Equal(&v1.ResourcesStatus{Total: 3, ResourceChanges: v1.ResourceChanges{Created: 2, Same: 1}}))
	g.Expect(string(stack.Status.Outputs["url"].Raw)).To(Equal(`"http://example.com"`))
	g.Expect(stack.Status.ProjectInfo).To(Equal(&v1.ProjectInfo{Name: "app", Runtime: "yaml"}))
	g.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded))
	g.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(Equal(gitCommit40))
	g.Expect(stack.Status.History).To(HaveLen(1))
	g.Expect(stack.Status.History[0].LastReconciledDuration.Duration).To(Equal(14 * time.Second))
}

func TestTheWarningsOfARunAreShown(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	record, warned := *stack.Status.Run, result(run.Succeeded, "")
	warned.Warnings = []string{"yarn.lock did not fit", "go.sum did not fit"}

	AbsorbResult(stack, warned)
	const warning = ". Warning: yarn.lock did not fit; go.sum did not fit"
	g.Expect(conditions.IsReady(stack)).To(BeTrue())
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + gitRevision + warning))
	g.Expect(runEvent(record, warned).Message).To(HaveSuffix("in 14s" + warning))
	record.Operation = v1.OperationPreview
	g.Expect(runEvent(record, warned).Message).To(HaveSuffix("in 14s" + warning))

	RecordRun(stack, record)
	stack.Status.Run.Operation = v1.OperationUpdate
	AbsorbResult(stack, result(run.Succeeded, ""))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + gitRevision))
}

func TestAbsorbSuccessOfAnOlderGenerationDoesNotSpeakForTheNewerOne(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	stack.Generation = 4

	AbsorbResult(stack, result(run.Succeeded, ""))

	g.Expect(conditions.IsReady(stack)).To(BeFalse())
	g.Expect(conditions.IsReconciling(stack)).To(BeTrue())
	g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(2))
	g.Expect(stack.Status.LastAppliedRevision).To(Equal(gitRevision), "it was applied all the same")
}

func TestNewInputsResetTheFailuresOfADestroy(t *testing.T) {
	for digest, want := range map[string]int{"sha256:inputs": 4, "sha256:expired": 1, "": 4} {
		stack := stackWithRun(v1.OperationDestroy)
		stack.Status.LastUpdate = &v1.LastUpdate{Type: v1.UpdateTypeDestroy, Digest: digest}
		stack.Status.Failures = 3
		AbsorbResult(stack, result(run.Failed, "no such bucket"))
		NewWithT(t).Expect(stack.Status.Failures).To(BeEquivalentTo(want), digest)
	}
}

func TestAbsorbFailure(t *testing.T) {
	tests := []struct {
		name      string
		operation v1.Operation
		outcome   run.Outcome
		want      string
	}{
		{"a failed update", v1.OperationUpdate, run.Failed, v1.UpdateFailedReason},
		{"a failed destroy", v1.OperationDestroy, run.Failed, v1.DestroyFailedReason},
		{"a locked stack", v1.OperationUpdate, run.Locked, v1.StackLockedReason},
		{"an artifact that cannot be used", v1.OperationUpdate, run.ArtifactFailed, meta.ArtifactFailedReason},
		{"an update that took too long", v1.OperationUpdate, run.TimedOut, v1.UpdateFailedReason},
		{"a failed preview", v1.OperationPreview, run.Failed, v1.PreviewFailedReason},
		{"changes that were not expected", v1.OperationUpdate, run.Drifted, v1.RefreshFailedReason},
		{"changes that were not expected in a preview", v1.OperationPreview, run.Drifted, v1.RefreshFailedReason},
		{"a backend out of reach", v1.OperationDestroy, run.BackendUnavailable, v1.BackendUnavailableReason},
		{"a registry out of reach", v1.OperationUpdate, run.RegistryUnavailable, v1.RegistryUnavailableReason},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			stack := stackWithRun(tt.operation)
			stack.Status.LastAppliedRevision = "main@sha1:before"
			stack.Status.LastUpdate = &v1.LastUpdate{LastSuccessfulCommit: "before"}
			if tt.operation != v1.OperationDestroy {
				stack.Status.LastAttemptedDigest = "sha256:inputs"
			}
			stack.Status.Failures = 1

			AbsorbResult(stack, result(tt.outcome, "no such bucket"))

			g.Expect(stack.Status.Run).To(BeNil())
			g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(tt.want))
			g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
			g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("no such bucket"))
			g.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingWithRetryReason))
			g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(2))
			g.Expect(stack.Status.Failures).To(BeEquivalentTo(2))
			g.Expect(stack.Status.LastAppliedRevision).To(Equal("main@sha1:before"))
			g.Expect(stack.Status.LastUpdate.Reason).To(Equal(tt.want))
			g.Expect(stack.Status.LastUpdate.Digest).To(Equal("sha256:inputs"))
			g.Expect(stack.Status.LastUpdate.LastSuccessfulCommit).To(Equal("before"))
			g.Expect(stack.Status.LastUpdate.LastAttemptedCommit).To(Equal(gitCommit40))
		})
	}
}

func TestNewInputsResetTheFailures(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	stack.Status.LastAttemptedDigest = "sha256:older"
	stack.Status.Failures = 7

	AbsorbResult(stack, result(run.Failed, "no such bucket"))

	g.Expect(stack.Status.Failures).To(BeEquivalentTo(1))
}

func TestStalledMovesTheObservedGeneration(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 5}}
	MarkWaiting(stack, "waiting")

	MarkStalled(stack, v1.InvalidSpecReason, "two sources")

	g.Expect(stack.Status.ObservedGeneration).To(BeEquivalentTo(5), "or kstatus would wait for ever")
	g.Expect(conditions.IsStalled(stack)).To(BeTrue())
	g.Expect(conditions.Has(stack, meta.ReconcilingCondition)).To(BeFalse())
	g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
}

func TestAPreviewNeverNeedsRecovery(t *testing.T) {
	for _, operation := range []v1.Operation{v1.OperationPreview, v1.OperationUpdate} {
		g := NewWithT(t)
		stack := stackWithRun(operation)
		ended := result(run.PodFailed, "out of memory")
		ended.Interrupted = true
		AbsorbResult(stack, ended)
		g.Expect(stack.Status.Interrupted).To(HaveLen(map[v1.Operation]int{v1.OperationUpdate: 1}[operation]), string(operation))
		g.Expect(NeverRan(stack)).To(Equal(operation == v1.OperationPreview), string(operation))
	}
}

func TestWhatAPodHasDoneIsCountedHoweverItEnds(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	ended := result(run.PodFailed, "the image is missing")
	ended.Changes = run.Changes{}
	AbsorbResult(stack, ended)
	g.Expect(stack.Status.Resources).To(BeNil())

	stack = stackWithRun(v1.OperationUpdate)
	ended = result(run.PodFailed, "evicted")
	ended.Changes = run.Changes{Created: 3}
	AbsorbResult(stack, ended)
	g.Expect(stack.Status.Resources.Total).To(BeEquivalentTo(3))
}

func TestAnInterruptedRunRunsItsInputsAgain(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	stack.Status.LastAttemptedDigest = "sha256:inputs"
	recorded := *stack.Status.Run

	MarkInterrupted(stack, "gone", started.Add(time.Minute))

	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Interrupted).To(Equal([]v1.InterruptedRun{{
		ID: "run-1", Operation: v1.OperationUpdate, Host: "pod-1", Failures: 1, Instance: recorded.Holder.Instance,
		StartedAt: &recorded.StartedAt, EndedAt: &metav1.Time{Time: started.Add(time.Minute)},
	}}))
	g.Expect(stack.Status.Failures).To(BeEquivalentTo(1))
	g.Expect(NeverRan(stack)).To(BeFalse(), "Pulumi may have been at work")
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.RunInterruptedReason))
}

func TestInterruptedRunsAndRecoveriesAreInTheHistory(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	MarkInterrupted(stack, "gone", started.Add(time.Minute))
	for _, outcome := range []run.Outcome{run.Locked, run.Succeeded} {
		RecordRun(stack, v1.RunStatus{ID: "recovery", Operation: v1.OperationRecover, Digest: "sha256:inputs", StartedAt: metav1.Time{Time: started}})
		AbsorbResult(stack, result(outcome, "the stack is locked"))
	}
	RecordRun(stack, v1.RunStatus{ID: "run-2", Operation: v1.OperationUpdate, Revision: gitRevision, Digest: "sha256:inputs"})
	AbsorbResult(stack, result(run.Locked, "the stack is locked"))

	var reported []string
	for _, one := range stack.Status.History {
		reported = append(reported, fmt.Sprintf("%s %s %s of %q", one.Metadata["operation"], one.LastReconciledStatus, one.LastReconciledDuration.Duration, one.Digest))
	}
	g.Expect(reported).To(Equal([]string{
		`update StackLocked 14s of "sha256:inputs"`,
		`recover Recovered 14s of ""`,
		`recover StackLocked 14s of ""`,
		`update RunInterrupted 1m0s of "sha256:inputs"`,
	}))
}

func TestTheHistoryNamesTheRunsThatHaveChangedSomething(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	ends := func(id string, operation v1.Operation, ended *run.Result) map[string]string {
		RecordRun(stack, v1.RunStatus{ID: id, Operation: operation, Digest: "sha256:inputs", StartedAt: metav1.Time{Time: started}})
		AbsorbResult(stack, ended)
		return stack.Status.History[0].Metadata
	}
	quiet, outputs := result(run.Succeeded, ""), result(run.Succeeded, "")
	quiet.Changes, outputs.Changes, outputs.Done = run.Changes{Same: 3}, run.Changes{Same: 3}, &plan.Plan{MoreOutputs: 1}
	g.Expect(ends("one", v1.OperationUpdate, result(run.Succeeded, ""))).To(And(HaveKeyWithValue("run", "one"), HaveKeyWithValue("changedIn", "one")))
	g.Expect(ends("two", v1.OperationUpdate, quiet)).To(And(HaveKeyWithValue("run", "two"), HaveKeyWithValue("changedIn", "one")), "they share the entry")
	g.Expect(ends("three", v1.OperationUpdate, outputs)).To(And(HaveKeyWithValue("run", "three"), HaveKeyWithValue("changedIn", "three,one")))
	g.Expect(stack.Status.History).To(HaveLen(1))
	g.Expect(ends("four", v1.OperationPreview, result(run.Succeeded, ""))).To(And(HaveKeyWithValue("run", "four"), HaveKeyWithValue("changedIn", "three,one")))
	g.Expect(ends("five", v1.OperationUpdate, result(run.Failed, "boom"))).To(And(HaveKeyWithValue("run", "five"), HaveKeyWithValue("changedIn", "five")))
	RecordRun(stack, v1.RunStatus{ID: "six", Operation: v1.OperationUpdate, Digest: "sha256:inputs"})
	MarkInterrupted(stack, "gone", started.Add(time.Minute))
	g.Expect(stack.Status.History[0].Metadata).To(And(HaveKeyWithValue("run", "six"), Not(HaveKey("changedIn"))))
}

func TestTheOriginOfARevisionIsKnownAfterARecovery(t *testing.T) {
	stack := stackWithRun(v1.OperationUpdate)
	stack.Status.Run.OriginRevision = ociRevision
	MarkInterrupted(stack, "gone", started)
	RecordRun(stack, v1.RunStatus{ID: "recovery", Operation: v1.OperationRecover})
	AbsorbResult(stack, result(run.Succeeded, ""))
	_, origin := knownRevision(stack)
	NewWithT(t).Expect(origin).To(Equal(ociRevision))
}

func TestInterruptedRunsAreBoundedAndTheFirstIsKept(t *testing.T) {
	g := NewWithT(t)
	stack := stackWithRun(v1.OperationUpdate)
	MarkInterrupted(stack, "gone", started)
	for range 3 * maxInterrupted {
		RecordRun(stack, v1.RunStatus{ID: "recovery", Operation: v1.OperationRecover})
		MarkInterrupted(stack, "gone", started)
	}
	g.Expect(stack.Status.Interrupted).To(HaveLen(maxInterrupted))
	g.Expect(stack.Status.Interrupted[0].ID).To(Equal("run-1"))
}

func TestGitCommit(t *testing.T) {
	g := NewWithT(t)
	g.Expect(gitCommit(gitRevision, "")).To(Equal(gitCommit40))
	g.Expect(gitCommit(ociRevision, gitRevision)).To(Equal(gitCommit40), "the origin of an OCI artifact")
	g.Expect(gitCommit(ociRevision, "")).To(BeEmpty(), "the digest of an artifact is no commit")
	g.Expect(gitCommit("3@sha256:aa", "")).To(BeEmpty(), "a Program has no commit")
	g.Expect(gitCommit("", "")).To(BeEmpty())
}

func TestRunEvent(t *testing.T) {
	g := NewWithT(t)
	record := v1.RunStatus{Operation: v1.OperationUpdate, Revision: gitRevision}

	e := runEvent(record, result(run.Succeeded, ""))
	g.Expect(e.Message).To(Equal("Update succeeded: 2 created, 1 unchanged in 14s"))
	g.Expect(e.Type).To(Equal("Normal"))
	g.Expect(e.Revision).To(Equal(gitRevision))

	e = runEvent(record, result(run.Failed, "no such bucket"))
	g.Expect(e.Message).To(Equal("Update failed: no such bucket"))
	g.Expect(e.Type).To(Equal("Warning"))
}
