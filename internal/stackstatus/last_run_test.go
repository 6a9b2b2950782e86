// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// nonsense is a lastUpdate that says the opposite of what any run has left.
func nonsense() *v1.LastUpdate {
	return &v1.LastUpdate{
		Generation: 99, Digest: "sha256:nonsense", Name: "nonsense", Type: "nonsense", State: "nonsense", Reason: "Nonsense", Message: "nonsense",
		LastSuccessfulCommit: "nonsense", LastAttemptedCommit: "nonsense", LastResyncTime: &metav1.Time{Time: started.Add(-24 * time.Hour)},
	}
}

// consequence is what follows from a status: what it says, the status after the next run, its event, and what is decided before
// and after.
type consequence struct {
	Before, After decide.Decision
	Event         *Event
	Metadata      map[string]string
	NeverRan      bool
	Repeats       bool
	Warning       map[string]string
	Left          []Event
	Unchanged     *metav1.Condition
	Status        string
}

func consequenceOf(t *testing.T, stack *v1.Stack, kind kindOfRun, end wayToEnd) consequence {
	t.Helper()
	c := consequence{Before: nextDecision(stack), NeverRan: NeverRan(stack), Left: LeftEvents(stack, decide.Observation{})}
	c.Repeats, c.Warning = IsOfLastRun(stack, c.Before), Metadata(stack, Event{Type: corev1.EventTypeWarning})
	unchanged := stack.DeepCopy()
	if last := LastRun(stack); last != nil {
		MarkUnchanged(unchanged, last.Operation == v1.OperationPreview, gitRevision, "")
		c.Unchanged = getCondition(unchanged, meta.ReadyCondition)
		c.Unchanged.LastTransitionTime = metav1.Time{}
	}
	startRun(stack, kind, "run", "sha256:new")
	c.Event = end.do(stack)
	if c.Event != nil {
		c.Metadata = Metadata(stack, *c.Event)
	}
	if stack.Status.Run == nil {
		c.After = nextDecision(stack)
	}
	status, err := json.Marshal(stack.Status)
	if err != nil {
		t.Fatal(err)
	}
	c.Status = string(status)
	return c
}

// eachTransition calls the function for each status before, kind of run and way to end it. The status is as the API server returns
// it: with times in seconds.
func eachTransition(t *testing.T, do func(t *testing.T, name string, before func() *v1.Stack, kind kindOfRun, end wayToEnd)) {
	t.Helper()
	for _, status := range statusesBefore() {
		before := func() *v1.Stack {
			stored := &v1.Stack{}
			text, err := json.Marshal(status.make())
			if err == nil {
				err = json.Unmarshal(text, stored)
			}
			if err != nil {
				t.Fatal(err)
			}
			return stored
		}
		for _, kind := range status.kinds {
			for _, end := range waysToEnd() {
				do(t, status.name+", "+kind.name+", "+end.name, before, kind, end)
			}
		}
	}
}

func TestAStatusOfAnEarlierControllerHasTheSameConsequences(t *testing.T) {
	eachTransition(t, func(t *testing.T, name string, before func() *v1.Stack, kind kindOfRun, end wayToEnd) {
		g := NewWithT(t)
		want := before()
		if last := LastRun(want); last != nil && run.KindOf(last.Operation).Proposes {
			return // no earlier controller has proposed anything
		}
		KeepLastRun(want) // a run that does not count leaves it as it is
		earlier := before()
		earlier.Status.LastRun = nil
		read := LastRun(earlier)
		kept := earlier.DeepCopy()
		KeepLastRun(kept)
		g.Expect(kept.Status).To(Equal(want.Status), name)
		g.Expect(read).To(Equal(LastRun(kept)), name)

		got, is := consequenceOf(t, earlier, kind, end), consequenceOf(t, want, kind, end)
		KeepLastRun(earlier) // as each write of the status does
		status, err := json.Marshal(earlier.Status)
		g.Expect(err).NotTo(HaveOccurred())
		got.Status = string(status)
		g.Expect(got).To(Equal(is), name)
	})
}

func TestTheLastUpdateIsOnlyWritten(t *testing.T) {
	eachTransition(t, func(t *testing.T, name string, before func() *v1.Stack, kind kindOfRun, end wayToEnd) {
		stack := before()
		if stack.Status.LastRun == nil {
			return // it never ran, or the Pulumi operator ran it
		}
		g := NewWithT(t)
		want := consequenceOf(t, before(), kind, end)
		stack.Status.LastUpdate = nonsense()
		got := consequenceOf(t, stack, kind, end)
		if stack.Status.LastUpdate.Name == "nonsense" { // no run has been written to it
			stack.Status.LastUpdate = before().Status.LastUpdate
			status, err := json.Marshal(stack.Status)
			g.Expect(err).NotTo(HaveOccurred())
			got.Status = string(status)
		}
		g.Expect(got).To(Equal(want), name)
	})
}

func TestARunOfAnEarlierControllerAfterARollbackCounts(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{Spec: v1.StackSpec{Stack: "dev"}}
	ended(update, "Failed")(stack)
	left := stack.Status.LastRun.DeepCopy()
	g.Expect(LastRun(stack)).To(Equal(left))

	startRun(stack, update, "later", "sha256:later")
	AbsorbResult(stack, ofRun("Succeeded"))
	stack.Status.LastRun = left // the earlier controller does not know this field
	g.Expect(LastRun(stack)).To(HaveField("ID", "later"))
	g.Expect(LastRun(stack)).To(HaveField("State", v1.UpdateSucceeded))

	KeepLastRun(stack)
	g.Expect(stack.Status.LastRun).To(HaveField("ID", "later"))
}

func TestWhatTheOperatorHasRunIsNotKeptAsARunOfThisController(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	byOperator(stack)
	KeepLastRun(stack)
	g.Expect(stack.Status.LastRun).To(BeNil())
	g.Expect(LastRun(stack)).To(HaveField("ID", stack.Status.LastUpdate.Name))
}
