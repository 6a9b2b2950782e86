// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// withoutMarks is a status as a version of before the marks has it, which plans had before.
func withoutMarks(status []byte) []byte {
	return []byte(strings.NewReplacer(`"propose:`, `"`, `"propose-destroy:`, `"`).Replace(string(status)))
}

func TestAStatusWithoutMarkedDigestsHasTheSameConsequences(t *testing.T) {
	marked := 0
	eachTransition(t, func(t *testing.T, name string, before func() *v1.Stack, kind kindOfRun, end wayToEnd) {
		g := NewWithT(t)
		want, earlier := before(), before()
		text, err := json.Marshal(want.Status)
		g.Expect(err).NotTo(HaveOccurred())
		if string(withoutMarks(text)) == string(text) {
			return
		}
		marked++
		earlier.Status = v1.StackStatus{}
		g.Expect(json.Unmarshal(withoutMarks(text), &earlier.Status)).To(Succeed())
		g.Expect(observeLastRun(earlier)).To(Equal(observeLastRun(want)), name)
		g.Expect(cancelledRun(earlier)).To(Equal(cancelledRun(want)), name)
		got, is := consequenceOf(t, earlier, kind, end), consequenceOf(t, want, kind, end)
		got.Status, is.Status = string(withoutMarks([]byte(got.Status))), string(withoutMarks([]byte(is.Status)))
		g.Expect(got).To(Equal(is), name)
	})
	NewWithT(t).Expect(marked).To(BeNumerically(">", 0))
}

// An earlier version compares status.lastAttemptedDigest with the digest of the inputs, and takes an operation that it does
// not know for an update.
func TestAnEarlierVersionRunsWhatWasOnlyProposed(t *testing.T) {
	stack := func(change ...func(*v1.Stack)) *v1.Stack {
		s := &v1.Stack{Spec: v1.StackSpec{Stack: "dev"}}
		s.Generation = 3
		for _, do := range append([]func(*v1.Stack){require(v1.ApprovalAlways)}, change...) {
			do(s)
		}
		return s
	}
	changed := func(s *v1.Stack) {
		startRun(s, update, "run", "sha256:new")
		result := ofRun(run.PlanChanged)
		result.Plan = planMade()
		absorbAll(s, result)
	}
	for name, s := range map[string]*v1.Stack{
		"proposed":                   stack(ended(propose, run.Succeeded)),
		"failed to propose":          stack(ended(propose, run.Failed)),
		"an update of another plan":  stack(ended(propose, run.Succeeded), approve, changed),
		"a proposal that is at work": stack(func(s *v1.Stack) { startRun(s, propose, "run", "sha256:inputs") }),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if record := s.Status.Run; record != nil {
				g.Expect(record.Digest).To(Equal("propose:sha256:inputs"))
				return
			}
			g.Expect(s.Status.LastAttemptedDigest).To(HavePrefix("propose:sha256:"))
			g.Expect(s.Status.LastRun.Digest).To(Equal(s.Status.LastAttemptedDigest))
			g.Expect(s.Status.LastUpdate.Digest).To(Equal(s.Status.LastAttemptedDigest))
			g.Expect(observeLastRun(s)).To(HaveField("Digest", HavePrefix("sha256:")), "this version knows the inputs")
		})
	}
}

// The version after it must not take them for applied.
func TestAProposalThatAnEarlierVersionTookForAnUpdateIsNotApplied(t *testing.T) {
	g := NewWithT(t)
	s := &v1.Stack{Spec: v1.StackSpec{Stack: "dev"}}
	s.Generation = 3
	startRun(s, update, "run", recordedDigest(run.Propose, "sha256:new")) // as it absorbs the result of the proposal
	AbsorbResult(s, ofRun(run.Succeeded))
	require(v1.ApprovalAlways)(s)
	g.Expect(nextDecision(s)).To(And(HaveField("Action", decide.Start), HaveField("Operation", run.Propose)))
}
