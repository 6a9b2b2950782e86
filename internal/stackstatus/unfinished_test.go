// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// recordedInState is what Drifted says of drift that a correction has left in the state.
const recordedInState = "; an update has recorded the drift of 1 resource in the state before it failed, and no check sees that: the next update that succeeds undoes it"

// uncorrected has a correction of one resource end in that way.
func uncorrected(mode v1.DriftMode, end func(*v1.Stack)) *v1.Stack {
	stack := &v1.Stack{}
	stack.Generation = 3
	for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(mode), found("urn:a")} {
		step(stack)
	}
	startRun(stack, updateDrift, "correction", "sha256:inputs")
	end(stack)
	for len(stack.Status.Interrupted) > 0 {
		ended(recovery, run.Succeeded)(stack)
	}
	return stack
}

// failed ends a correction after its refresh.
func failed(outcome run.Outcome) func(*v1.Stack) {
	return func(s *v1.Stack) {
		result := ofRun(outcome)
		result.Refreshed = true
		AbsorbResult(s, result)
	}
}

// ofOutcome ends one before its refresh.
func ofOutcome(outcome run.Outcome) func(*v1.Stack) {
	return func(s *v1.Stack) { AbsorbResult(s, ofRun(outcome)) }
}

// requestedCheck has a check on request find nothing.
func requestedCheck(s *v1.Stack) {
	s.Annotations = map[string]string{v1.CheckDriftAnnotation: "now"}
	startRun(s, check, "asked", "sha256:inputs")
	s.Status.Run.CheckRequest = CheckRequest(s)
	result := ofRun(run.Succeeded)
	result.Drift.Found.Steps = nil
	AbsorbResult(s, result)
}

func TestDriftThatACorrectionHasRecordedCounts(t *testing.T) {
	none := found()
	lost := func(s *v1.Stack) { MarkInterrupted(s, "the controller is gone", started) }
	for name, test := range map[string]struct {
		end   func(*v1.Stack)
		after []func(*v1.Stack)
		// text follows the counts in the condition. With "", no drift is left.
		text, decided string
	}{
		"failed":                           {failed(run.Failed), []func(*v1.Stack){none}, recordedInState, "InSync"},
		"failed, and seen twice":           {failed(run.Failed), []func(*v1.Stack){none, none}, recordedInState, "InSync"},
		"failed, and a check too":          {failed(run.Failed), []func(*v1.Stack){ended(check, run.Failed), none}, recordedInState, "InSync"},
		"failed, and a check is requested": {failed(run.Failed), []func(*v1.Stack){none, requestedCheck}, recordedInState, "Start update of drift"},
		"a policy forbids it":              {failed(run.PolicyViolation), []func(*v1.Stack){none}, recordedInState, "Start update of drift"},
		"lost":                             {lost, []func(*v1.Stack){none}, recordedInState, "Start update of drift"},
		"failed in the preview":            {ofOutcome(run.Failed), []func(*v1.Stack){found("urn:a")}, " ", "InSync"},
		"drifted again":                    {failed(run.Failed), []func(*v1.Stack){found("urn:a")}, " ", "InSync"},
		"it was locked":                    {ofOutcome(run.Locked), []func(*v1.Stack){none}, "", "InSync"},
		"undone by a correction":           {failed(run.Failed), []func(*v1.Stack){none, requestedCheck, ended(updateDrift, run.Succeeded), none}, "", "InSync"},
		"undone by an update":              {failed(run.Failed), []func(*v1.Stack){none, ended(update, run.Succeeded), none}, "", "InSync"},
		"another update fails":             {failed(run.Failed), []func(*v1.Stack){none, ended(updateDrift, run.Failed), none}, recordedInState, "InSync"},
		"more is found":                    {failed(run.Failed), []func(*v1.Stack){found("urn:b"), none}, recordedInState, "Start update of drift"},
		"only a check is due after an update": {
			failed(run.Failed), []func(*v1.Stack){none, ended(update, run.Succeeded)}, recordedInState, "InSync and a check",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := uncorrected(v1.DriftCorrect, test.end)
			digest, since := stack.Status.Drift.Digest, stack.Status.Drift.Since
			for _, step := range test.after {
				step(stack)
			}
			drifted := getCondition(stack, v1.DriftedCondition)
			if test.text == "" {
				g.Expect(drifted).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.NoDriftReason)))
				g.Expect(stack.Status.Drift.Unfinished).To(BeNil())
				return
			}
			g.Expect(drifted.Status).To(Equal(metav1.ConditionTrue))
			g.Expect(drifted.Message).To(HavePrefix("Found drift: 1 changed"))
			g.Expect(strings.Contains(drifted.Message, recordedInState)).To(Equal(test.text == recordedInState), drifted.Message)
			if name != "more is found" {
				g.Expect(stack.Status.Drift).To(And(HaveField("Digest", digest), HaveField("Since", since)), "it is the same drift")
			}
			g.Expect(decided(stack)).To(Equal(test.decided))
		})
	}
}

func TestACorrectionIncludesWhatAnEarlierOneHasLeft(t *testing.T) {
	g := NewWithT(t)
	stack := uncorrected(v1.DriftCorrect, failed(run.Failed))
	found("urn:b")(stack)
	found("urn:b")(stack)
	g.Expect(stack.Status.Drift).To(And(HaveField("Targets", []string{"urn:a", "urn:b"}), HaveField("Unfinished.Targets", []string{"urn:a"})))
	stack.Status.Drift.Targets = []string{"urn:b"} // as with more than 100
	ended(updateDrift, run.Succeeded)(stack)
	g.Expect(stack.Status.Drift.Unfinished).To(HaveField("Targets", []string{"urn:a"}))
}

func TestDriftThatIsLeftInTheStateOutlivesTheMode(t *testing.T) {
	g := NewWithT(t)
	stack := uncorrected(v1.DriftCorrect, failed(run.Failed))
	watch(v1.DriftReport)(stack)
	DropDrift(stack, DriftDetails{})
	found()(stack)
	g.Expect(getCondition(stack, v1.DriftedCondition)).To(HaveField("Status", metav1.ConditionTrue))
	g.Expect(decided(stack)).To(Equal("InSync"))
	watch(v1.DriftPropose)(stack)
	g.Expect(decided(stack)).To(Equal("InSync and a check"))
	found()(stack)
	g.Expect(decided(stack)).To(Equal("Start propose of drift"))
}

func TestTheDetailsOfDriftAreKeptWithIt(t *testing.T) {
	g := NewWithT(t)
	stack := uncorrected(v1.DriftCorrect, failed(run.Failed))
	stack.Status.Drift.ConfigMap, stack.Status.Drift.ContentDigest = "app-drift", "sha256:details"
	before := stack.DeepCopy()
	g.Expect(KeepsDrift(stack, ofRun(run.Succeeded).Drift.Found)).To(BeFalse())
	nothing := ofRun(run.Succeeded)
	nothing.Drift.Found.Steps = nil
	g.Expect(KeepsDrift(stack, nothing.Drift.Found)).To(BeTrue())
	found()(stack)
	recordDriftDetails(stack, nothing, KeptDriftDetails(before))
	g.Expect(stack.Status.Drift).To(And(HaveField("ConfigMap", "app-drift"), HaveField("ContentDigest", "sha256:details")))
	_, isNew := DriftEvent(before, stack, nothing.Drift)
	g.Expect(isNew).To(BeFalse(), "it is not gone")
}
