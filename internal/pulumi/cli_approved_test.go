// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// withoutPlan are the runs that Pulumi cannot be held to a plan for, each in a stack with two things,
// and what another user leaves there meanwhile: a third one.
func withoutPlan() map[string]func(l *lab) run.Run {
	return map[string]func(l *lab) run.Run{
		"a destroy": func(l *lab) run.Run {
			r := l.destroy()
			r.Operation, r.PlanInputs, r.PlanKey = run.ProposeDestroy, "sha256:inputs", "key"
			return r
		},
		"an update": func(l *lab) run.Run {
			return l.propose(l.thing("value: one", "value: one") + "  new: {type: \"lab:index:Thing\", properties: {name: new}}\n" +
				"  other: {type: \"pulumi:providers:lab\", properties: {directory: \"" + l.cloud + "/${new.id}\"}}\n" +
				"  made: {type: \"lab:index:Thing\", properties: {name: made}, options: {provider: \"${other}\"}}\n")
		},
	}
}

// changedByAnother prepares a stack with two things, and the state that another user leaves in
// the file, which has a third one.
func (l *lab) changedByAnother(third string) (state, changed string) {
	l.Helper()
	l.given(l.thing("value: one", "value: one", third))
	state, changed = l.stackFile(), filepath.Join(filepath.Dir(l.calls), "changed.json")
	text, err := os.ReadFile(state)
	l.Expect(err).NotTo(HaveOccurred())
	l.Expect(os.WriteFile(changed, text, 0o600)).To(Succeed())
	return state, changed
}

// The state is read once more right before the engine starts.
func TestWhatIsApprovedIsComparedWithTheLastState(t *testing.T) {
	t.Parallel()
	cli, err := process.FindBin("pulumi")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	proposals := withoutPlan()
	// Pulumi's own plan does not say from which values a resource is updated.
	proposals["an update with a plan of Pulumi"] = func(l *lab) run.Run { return l.propose(l.thing("value: two", "value: one")) }
	for name, proposal := range proposals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).withProvider()
			state, changed := l.changedByAnother("value: one")
			l.Expect(l.do(t.Context(), l.update(l.thing("value: one", "value: one"))).Outcome).To(Equal(run.Succeeded))
			made := l.proposed(proposal(l))
			things := l.things()
			l.replacing("preview", cli+` "$@"; code=$?; cp `+changed+" "+state+"; exit $code")
			l.replacing("--preview-only", cli+` "$@"; code=$?; cp `+changed+" "+state+"; exit $code")
			result := l.do(t.Context(), approved(proposal(l), made))
			l.Expect(result.Outcome).To(Equal(run.PlanChanged), result.Message)
			l.Expect(result.Plan.Counts().Delete).To(Equal(made.Counts().Delete+1), "what the other user has added is in the new plan")
			l.Expect(result.Changes).To(BeZero())
			l.Expect(l.things()).To(Equal(things))
		})
	}
}

// Pulumi locks the stack only then. What another user has added in the last moment is not in the plan.
func TestARunIsStoppedAtAStepThatIsNotApproved(t *testing.T) {
	t.Parallel()
	for name, proposal := range withoutPlan() {
		t.Run(name, func(t *testing.T) {
			if name == "an update" {
				short.Skip(t)
			}
			t.Parallel()
			l := newLab(t).withProvider()
			state, changed := l.changedByAnother("hold: delete")
			l.release()
			l.Expect(l.do(t.Context(), l.update(l.thing("value: one", "value: one"))).Outcome).To(Equal(run.Succeeded))
			l.Expect(os.Remove(filepath.Join(l.cloud, "released"))).To(Succeed())
			made := l.proposed(proposal(l))
			l.replacing("--skip-preview", "cp "+changed+" "+state)
			results := make(chan run.Result, 1)
			go func() { results <- l.do(t.Context(), approved(proposal(l), made)) }()
			l.Eventually(cloud.Open(l.cloud).ToldToStop).Should(BeTrue())
			l.release()
			var result run.Result
			l.Eventually(results).Should(Receive(&result))
			l.Expect(result.Outcome).To(Equal(run.Failed))
			l.Expect(result.Message).To(ContainSubstring("a step that the approved plan does not have: lab:index:Thing (c): delete"))
			l.Expect(result.Interrupted).To(BeFalse())
			l.Expect(l.valueOf("a")).To(Equal("one"), "no further step is started")
			l.Expect(l.locks()).To(BeEmpty())
		})
	}
}
