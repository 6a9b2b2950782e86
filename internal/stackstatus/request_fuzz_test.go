// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"slices"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// FuzzRequests: each request counts once, and is not lost when it is taken on.
func FuzzRequests(f *testing.F) {
	f.Add("2026-01-01T00:00:00Z", "", "", "")
	f.Add("a", "a", "b", "a")
	f.Add(string(make([]byte, 300)), "", "\xff", "")
	f.Fuzz(func(t *testing.T, reconcile, force, operator, handled string) {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			meta.ReconcileRequestAnnotation: reconcile, meta.ForceRequestAnnotation: force, v1.ReconcileRequestAnnotation: operator,
		}}}
		stack.Status.LastHandledReconcileAt = RequestToken(handled)
		asked, forces := Requested(stack), ForceRequested(stack)
		if want := RequestToken(reconcile) != RequestToken(handled) || operator != ""; asked != want || (forces && !asked) {
			t.Errorf("requested %v, forced %v", asked, forces)
		}
		AcknowledgeRequests(stack)
		if Requested(stack) || ForceRequested(stack) {
			t.Error("what was taken on is asked for again")
		}
		if stack.Status.RunPending != asked || stack.Status.RefreshPending != forces {
			t.Errorf("what was taken on is lost: %+v", stack.Status)
		}
		for _, kept := range []string{stack.Status.LastHandledReconcileAt, stack.Status.LastHandledForceAt, stack.Status.ObservedReconcileRequest} {
			if len(kept) > maxToken {
				t.Errorf("%d bytes are kept", len(kept))
			}
		}
	})
}

// FuzzAbsorb absorbs the results of runs into a status, one after the other. Creations of
// unknown outcome are forgotten only by a recovery that succeeds, and only an update that
// succeeds counts as applied.
func FuzzAbsorb(f *testing.F) {
	f.Add([]byte("\x03\x00\x01\x00\x00\x01\x03\x00\x01"))
	f.Add([]byte("\x05\x02\x00\x01\x01\x02\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := fuzz.From(data)
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "a", Generation: 1}}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range in.Below(12) {
			at = at.Add(time.Minute)
			stack.Generation += int64(in.Below(2))
			record := &v1.RunStatus{
				ID: "r", Operation: fuzz.Pick(in, v1.OperationUpdate, v1.OperationDestroy, v1.OperationRecover, v1.OperationPreview),
				Generation: stack.Generation - int64(in.Below(2)), Revision: in.Text(), Digest: fuzz.Pick(in, "sha256:a", "sha256:b"),
			}
			result := resultFrom(in, at)
			before := stack.DeepCopy()
			stack.Status.Run = record
			AbsorbResult(stack, result)
			checkAbsorbed(t, before, stack, record, result)
		}
	})
}

func resultFrom(in *fuzz.Input, at time.Time) *run.Result {
	result := &run.Result{
		Outcome: fuzz.Pick(in, run.Succeeded, run.Failed, run.Locked, run.Drifted, run.BackendUnavailable, run.ArtifactFailed,
			run.TimedOut, run.Cancelled, run.Outcome(in.Text())),
		Message: in.Text(), Interrupted: in.Bool(), StartedAt: at, EndedAt: at.Add(time.Second),
		Changes:        run.Changes{Created: in.Below(256), Same: in.Below(256)},
		UnknownCreates: fuzz.List(in, 3, func() string { return fuzz.Pick(in, "urn:a", "urn:b") }),
	}
	if in.Bool() {
		result.Project = run.Project{Name: "demo", Runtime: "yaml"}
	}
	return result
}

func checkAbsorbed(t *testing.T, before, after *v1.Stack, record *v1.RunStatus, result *run.Result) {
	if after.Status.Run != nil {
		t.Error("the record is still there")
	}
	recovered := record.Operation == v1.OperationRecover && result.Outcome == run.Succeeded
	for _, urn := range slices.Concat(before.Status.UnknownCreates, result.UnknownCreates) {
		if !recovered && !slices.Contains(after.Status.UnknownCreates, urn) {
			t.Errorf("%s is forgotten after %s: %s", urn, record.Operation, result.Outcome)
		}
	}
	if !recovered && len(after.Status.Interrupted) < len(before.Status.Interrupted) {
		t.Errorf("an interrupted run is forgotten after %s: %s", record.Operation, result.Outcome)
	}
	applied := after.Status.LastAppliedDigest != before.Status.LastAppliedDigest || after.Status.LastAppliedRevision != before.Status.LastAppliedRevision
	if applied && (record.Operation != v1.OperationUpdate || result.Outcome != run.Succeeded) {
		t.Errorf("%s that ended with %s is reported as applied", record.Operation, result.Outcome)
	}
	if last := observeLastRun(after); last.Succeeded != (result.Outcome == run.Succeeded) {
		t.Errorf("%s is reported as success: %v", result.Outcome, last.Succeeded)
	}
	if after.Status.Failures < 0 {
		t.Errorf("%d failures", after.Status.Failures)
	}
}
