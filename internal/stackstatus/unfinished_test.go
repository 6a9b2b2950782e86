// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// recordedInState is what Drifted says of drift that an update has left in the state.
func recordedInState(resources string) string {
	return "An update has recorded the drift of " + resources + " in the state before it failed, so that no check sees it: the next full update that succeeds undoes it"
}

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

// targeting has the Stack update only these resources.
func targeting(urns ...string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Generation++
		s.Spec.Targets = urns
	}
}

// ignoring has the Stack ignore drift.
func ignoring(rule v1.IgnoredDrift) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Generation++
		s.Spec.Drift.Ignore = []v1.IgnoredDrift{rule}
	}
}

// updated has an update of the current spec succeed.
func updated(s *v1.Stack) {
	startRun(s, update, "update", "sha256:inputs")
	AbsorbResult(s, ofRun(run.Succeeded))
}

func TestDriftThatACorrectionHasRecordedCounts(t *testing.T) {
	const noDrift, one = "No drift was found that counts (1 ignored)", "Found drift: 1 changed (1 ignored)"
	none, fails, a := found(), failed(run.Failed), recordedInState("1 resource")
	lost := func(s *v1.Stack) { MarkInterrupted(s, "the controller is gone", started) }
	type steps []func(*v1.Stack)
	for name, test := range map[string]struct {
		end           func(*v1.Stack)
		after         steps
		says, decided string
	}{
		"failed":                           {fails, steps{none}, a, "InSync"},
		"failed, and seen twice":           {fails, steps{none, none}, a, "InSync"},
		"failed, and a check too":          {fails, steps{ended(check, run.Failed), none}, a, "InSync"},
		"failed, and a check is requested": {fails, steps{none, requestedCheck}, a, "InSync"},
		"a policy forbids it":              {failed(run.PolicyViolation), steps{none}, a, "InSync"},
		"lost":                             {lost, steps{none}, a, "InSync"},
		"failed in the preview":            {ofOutcome(run.Failed), steps{found("urn:a")}, one, "InSync"},
		"it was locked":                    {ofOutcome(run.Locked), steps{none}, noDrift, "InSync"},

		"drifted again":                    {fails, steps{found("urn:a")}, one, "InSync"},
		"drifted again later":              {fails, steps{none, found("urn:a")}, one, "Start update of drift"},
		"other drift":                      {fails, steps{none, found("urn:b")}, one + ". " + a, "Start update of drift"},
		"other drift that is gone":         {fails, steps{none, found("urn:b"), none}, a, "InSync"},
		"other drift that is undone":       {fails, steps{none, found("urn:b"), ended(updateDrift, run.Succeeded), none}, a, "InSync"},
		"other drift that is recorded too": {fails, steps{none, found("urn:b"), correctionFails, none}, recordedInState("2 resources"), "InSync"},

		"undone by a correction":   {fails, steps{found("urn:a"), ended(updateDrift, run.Succeeded), none}, noDrift, "InSync"},
		"undone by the next":       {fails, steps{ended(updateDrift, run.Succeeded), none}, noDrift, "InSync"},
		"undone by an update":      {fails, steps{none, updated, none}, noDrift, "InSync"},
		"a check is due after it":  {fails, steps{none, updated}, a, "InSync and a check"},
		"undone by one of targets": {fails, steps{none, targeting("urn:*"), updated, none}, noDrift, "InSync"},
		"others are updated":       {fails, steps{none, targeting("urn:b"), updated, targeting(), none}, a, "InSync"},
		"edited during the update": {fails, steps{none, updatedBefore(targeting()), none}, a, "InSync"},
		"an update fails":          {fails, steps{none, ended(update, run.Failed), none}, a, ""},

		"excluded by targets":        {fails, steps{none, targeting("urn:b"), none}, noDrift, "InSync"},
		"ignored":                    {fails, steps{none, ignoring(v1.IgnoredDrift{URN: "urn:*"}), none}, noDrift, "InSync"},
		"another one is ignored":     {fails, steps{none, ignoring(v1.IgnoredDrift{URN: "urn:b"}), none}, a, "InSync"},
		"ignored in part":            {fails, steps{none, ignoring(v1.IgnoredDrift{URN: "urn:a", Paths: []string{"tags"}}), none}, a, "InSync"},
		"ignored, with other drift":  {fails, steps{none, ignoring(v1.IgnoredDrift{URN: "urn:a"}), found("urn:b")}, one, "Start update of drift"},
		"excluded, with other drift": {fails, steps{none, targeting("urn:b"), found("urn:b")}, one, "Start update of drift"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := uncorrected(v1.DriftCorrect, test.end)
			for _, step := range test.after {
				step(stack)
			}
			status := metav1.ConditionTrue
			if test.says == noDrift {
				status = metav1.ConditionFalse
			}
			g.Expect(getCondition(stack, v1.DriftedCondition)).To(And(HaveField("Status", status), HaveField("Message", test.says)))
			if test.decided != "" {
				g.Expect(decided(stack)).To(Equal(test.decided))
			}
			if test.says == noDrift || test.says == one {
				g.Expect(stack.Status.Drift.Unfinished).To(BeNil())
			}
			g.Expect(stack.Status.Drift.Targets).To(Or(BeEmpty(), HaveLen(1)), "those of one correction")
		})
	}
}

// correctionFails has a correction of what was found fail after its refresh.
func correctionFails(s *v1.Stack) {
	startRun(s, updateDrift, "correction", "sha256:inputs")
	failed(run.Failed)(s)
}

// updatedBefore edits the Stack during an update that succeeds.
func updatedBefore(edit func(*v1.Stack)) func(*v1.Stack) {
	return func(s *v1.Stack) {
		startRun(s, update, "update", "sha256:inputs")
		edit(s)
		AbsorbResult(s, ofRun(run.Succeeded))
	}
}

func TestDriftIsKnownAfterAnyUpdateThatHasRefreshed(t *testing.T) {
	urns := make([]string, 150)
	for n := range urns {
		urns[n] = fmt.Sprintf("urn:%03d", n)
	}
	for name, test := range map[string]struct {
		mode    v1.DriftMode
		targets []string
		kind    kindOfRun
		found   int
		fails   int
		want    *v1.UnfinishedDrift
		says    string
	}{
		"an update":            {v1.DriftCorrect, nil, update, 2, 1, &v1.UnfinishedDrift{Targets: urns[:2]}, "2 resources"},
		"an update, twice":     {v1.DriftReport, nil, update, 2, 2, &v1.UnfinishedDrift{Others: 2}, "2 resources"},
		"only reported":        {v1.DriftReport, nil, update, 1, 1, &v1.UnfinishedDrift{Others: 1}, "1 resource"},
		"of targets":           {v1.DriftCorrect, urns[:1], update, 2, 1, &v1.UnfinishedDrift{Targets: urns[:1]}, "1 resource"},
		"of targets, reported": {v1.DriftReport, urns[:1], update, 2, 1, nil, ""},
		"of many":              {v1.DriftCorrect, nil, update, 150, 2, &v1.UnfinishedDrift{Targets: urns[:100], Others: 50}, "150 resources"},
		"a correction of many": {v1.DriftCorrect, nil, updateDrift, 150, 2, &v1.UnfinishedDrift{Targets: urns[:100]}, "100 resources"},
		"none was known":       {v1.DriftCorrect, nil, update, 0, 1, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{}
			stack.Generation, stack.Spec.Targets = 3, test.targets
			for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(test.mode), found(urns[:test.found]...)} {
				step(stack)
			}
			for range test.fails {
				startRun(stack, test.kind, "update", "sha256:inputs")
				failed(run.Failed)(stack)
			}
			g.Expect(stack.Status.Drift.Unfinished).To(Equal(test.want))
			found()(stack)
			if test.want == nil {
				g.Expect(getCondition(stack, v1.DriftedCondition)).To(HaveField("Status", metav1.ConditionFalse))
				return
			}
			g.Expect(getCondition(stack, v1.DriftedCondition)).To(HaveField("Message", recordedInState(test.says)))
			updated(stack)
			g.Expect(stack.Status.Drift.Unfinished).To(BeNil())
		})
	}
}

func TestDriftOfMoreResourcesThanOneCorrectionHas(t *testing.T) {
	g := NewWithT(t)
	urns := make([]string, 150)
	for n := range urns {
		urns[n] = fmt.Sprintf("urn:%03d", n)
	}
	stack := &v1.Stack{}
	for _, step := range []func(*v1.Stack){ended(update, run.Succeeded), watch(v1.DriftCorrect), found(urns...)} {
		step(stack)
	}
	correctionFails(stack)
	found(urns[100:]...)(stack)
	g.Expect(stack.Status.Drift.Targets).To(Equal(urns[100:]))
	g.Expect(decided(stack)).To(Equal("Start update of drift"))
	ended(updateDrift, run.Succeeded)(stack)
	found()(stack)
	g.Expect(getCondition(stack, v1.DriftedCondition)).To(HaveField("Message", recordedInState("100 resources")))
}

func TestDriftThatIsLeftInTheStateIsReportedInAllModes(t *testing.T) {
	g := NewWithT(t)
	stack := uncorrected(v1.DriftCorrect, failed(run.Failed))
	for _, mode := range []v1.DriftMode{v1.DriftReport, v1.DriftPropose, v1.DriftCorrect} {
		watch(mode)(stack)
		if isDriftLeft(stack) {
			DropDrift(stack, DriftDetails{})
		}
		found()(stack)
		g.Expect(getCondition(stack, v1.DriftedCondition)).To(HaveField("Message", recordedInState("1 resource")))
		g.Expect(decided(stack)).To(Equal("InSync"))
	}
}

func TestTheMessageOfDriftThatIsLeftInTheState(t *testing.T) {
	for name, test := range map[string]struct {
		end   func(*v1.Stack)
		after func(*v1.Stack)
		want  string
	}{
		"why the correction failed":      {failed(run.Failed), found(), "The update that undoes the drift failed: boom"},
		"not that another check failed":  {failed(run.Failed), ended(check, run.Failed), ""},
		"not that it follows":            {failed(run.PolicyViolation), found(), ""},
		"not what became of other drift": {failed(run.Failed), found("urn:b"), ""},
	} {
		g := NewWithT(t)
		stack := uncorrected(v1.DriftCorrect, test.end)
		test.after(stack)
		found()(stack)
		found()(stack)
		g.Expect(stack.Status.Drift).To(HaveField("Message", test.want), name)
	}
}

// What the status and the details say of a check is what that has found.
func TestNothingOfOtherDriftIsLeftBesideWhatIsInTheState(t *testing.T) {
	g := NewWithT(t)
	stack := uncorrected(v1.DriftCorrect, failed(run.Failed))
	found("urn:b", "urn:c")(stack)
	before := stack.DeepCopy()
	nothing := ofRun(run.Succeeded)
	nothing.Drift.Found.Steps = nil
	found()(stack)
	g.Expect(stack.Status.Drift).To(And(HaveField("Digest", ""), HaveField("Changed", BeZero()), HaveField("Since", BeNil()), HaveField("Targets", BeEmpty())))
	_, isNew := DriftEvent(before, stack, nothing.Drift)
	g.Expect(isNew).To(BeFalse(), "it is not gone")

	updated(stack)
	before = stack.DeepCopy()
	found()(stack)
	e, _ := DriftEvent(before, stack, nothing.Drift)
	g.Expect(e.Message).To(Equal("The drift is gone"))
}
