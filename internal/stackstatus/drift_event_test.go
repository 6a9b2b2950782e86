// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestDriftIsAnnouncedWhenItIsDifferent(t *testing.T) {
	some := &v1.DriftStatus{Result: v1.DriftDetectedReason, Digest: "sha256:a"}
	other := &v1.DriftStatus{Result: v1.DriftDetectedReason, Digest: "sha256:b"}
	none := &v1.DriftStatus{Result: v1.NoDriftReason}
	failed := &v1.DriftStatus{Result: v1.DriftCheckFailedReason, Message: "no answer"}
	failedSince := &v1.DriftStatus{Result: v1.DriftCheckFailedReason, Message: "no answer", Digest: "sha256:a"}
	failedOther := &v1.DriftStatus{Result: v1.DriftCheckFailedReason, Message: "no token"}
	for name, test := range map[string]struct {
		was, now *v1.DriftStatus
		// want is the type, the reason and the message, "" if nothing is announced.
		want string
	}{
		"none at first":            {nil, none, ""},
		"none as before":           {none, none, ""},
		"some at first":            {nil, some, "Warning DriftDetected found"},
		"some after none":          {none, some, "Warning DriftDetected found"},
		"the same":                 {some, some, ""},
		"other drift":              {some, other, "Warning DriftDetected The drift is different now: found"},
		"gone":                     {some, none, "Normal NoDrift The drift is gone"},
		"failed at first":          {nil, failed, "Warning DriftCheckFailed found"},
		"failed after some":        {some, failedSince, "Warning DriftCheckFailed found"},
		"failed as before":         {failed, failed, ""},
		"failed otherwise":         {failed, failedOther, ""},
		"none after a failure":     {failed, none, "Normal NoDrift The check for drift works again, and has found none"},
		"some after a failure":     {failed, some, "Warning DriftDetected found"},
		"the same after a failure": {failedSince, some, ""},
		"gone after a failure":     {failedSince, none, "Normal NoDrift The drift is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, stack := &v1.Stack{}, &v1.Stack{}
			before.Status.Drift, stack.Status.Drift = test.was, test.now
			conditions.MarkUnknown(stack, v1.DriftedCondition, "Any", "found")
			e, isNew := DriftEvent(before, stack, nil)
			g.Expect(isNew).To(Equal(test.want != ""))
			g.Expect(strings.TrimSpace(e.Type + " " + e.Reason + " " + e.Message)).To(Equal(test.want))
		})
	}
}

func TestTheEventOfDriftHasTheBeginningOfTheDiff(t *testing.T) {
	g := NewWithT(t)
	found := plan.Plan{}
	for range 100 {
		found.Steps = append(found.Steps, plan.Step{Op: plan.OpDelete, URN: "urn:pulumi:dev::app::lab:index:Thing::thing", Type: "lab:index:Thing"})
	}
	stack := &v1.Stack{}
	stack.Status.Drift = &v1.DriftStatus{Result: v1.DriftDetectedReason, Digest: "sha256:a"}
	stack.Status.LastAppliedRevision = "main@sha1:1"
	e, isNew := DriftEvent(&v1.Stack{}, stack, &run.Drift{Found: found})
	g.Expect(isNew).To(BeTrue())
	g.Expect(e.Message).To(Equal("100 deleted outside of Pulumi: lab:index:Thing thing, lab:index:Thing thing, lab:index:Thing thing and 97 more"))
	metadata := Metadata(stack, e)
	g.Expect(metadata).To(HaveKeyWithValue("pulumi.com/diff", HavePrefix("**100 deleted**\n\n```diff\n- lab:index:Thing thing (deleted)\n")))
	g.Expect(metadata).To(HaveKeyWithValue("pulumi.com/revision", "main@sha1:1"))
	g.Expect(len(metadata["pulumi.com/diff"])).To(BeNumerically("<=", 1000))
}

func TestACommitIsGoodAgainOnceItsDriftIsGone(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Spec.FluxSource = &v1.FluxSource{SourceRef: v1.SourceReference{Kind: "GitRepository"}}
	stack.Status.LastAppliedRevision = "main@sha1:1"
	gone := Event{Reason: v1.NoDriftReason}
	_, isNew := DriftGoneEvent(stack, gone)
	g.Expect(isNew).To(BeFalse(), "it is not ready")

	conditions.MarkTrue(stack, meta.ReadyCondition, meta.ReconciliationSucceededReason, "Applied revision: main@sha1:1")
	e, isNew := DriftGoneEvent(stack, gone)
	g.Expect(isNew).To(BeTrue())
	g.Expect(e.CommitStatus).To(BeTrue())
	g.Expect(Metadata(stack, e)).To(HaveKeyWithValue("pulumi.com/revision", "main@sha1:1"))
	_, isNew = DriftGoneEvent(stack, Event{Reason: v1.DriftDetectedReason})
	g.Expect(isNew).To(BeFalse())
}

func TestACheckThatWasStoppedHasNoResult(t *testing.T) {
	failed := func(times int64) *v1.Stack {
		return &v1.Stack{Status: v1.StackStatus{Drift: &v1.DriftStatus{Result: v1.DriftCheckFailedReason, Failures: times}}}
	}
	g := NewWithT(t)
	g.Expect(IsChecked(&v1.Stack{}, failed(1), nil)).To(BeTrue())
	g.Expect(IsChecked(failed(1), failed(2), nil)).To(BeTrue())
	g.Expect(IsChecked(failed(1), failed(1), &run.Drift{})).To(BeTrue())
	g.Expect(IsChecked(failed(1), failed(1), nil)).To(BeFalse())
	g.Expect(IsChecked(&v1.Stack{}, &v1.Stack{}, nil)).To(BeFalse())
	g.Expect(IsChecked(failed(1), &v1.Stack{}, nil)).To(BeFalse())
}
