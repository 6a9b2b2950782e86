// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// Outcome is what the migration means for a Stack.
type Outcome string

const (
	// TakenOver without a run.
	TakenOver Outcome = "TakenOver"
	// Runs once.
	Runs Outcome = "Runs"
	// EditFirst: the controller cannot run the Stack as it is.
	EditFirst Outcome = "EditFirst"
	// WaitFirst: the operator has an update in flight, which must not be killed.
	WaitFirst Outcome = "WaitFirst"
	// Released: it is being deleted, and nothing is destroyed.
	Released Outcome = "Released"
	// Suspended: nothing happens until it is resumed.
	Suspended Outcome = "Suspended"
	// Managed by this controller already.
	Managed Outcome = "Managed"
	// Unreadable: nothing can be foreseen.
	Unreadable Outcome = "Unreadable"
)

// Stack is what becomes of a Stack.
type Stack struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Operator  string  `json:"operator,omitempty"`
	Outcome   Outcome `json:"outcome"`
	// Run is the kind of run that follows, "" for none.
	Run string `json:"run,omitempty"`
	// Why is the reason for the outcome.
	Why string `json:"why"`
	// EditFirst is what has to be edited for a run, and Notes what is different here.
	EditFirst []string `json:"editFirst,omitempty"`
	Notes     []string `json:"notes,omitempty"`
	Fields    Fields   `json:"fields"`
}

// Facts are what is known of a Stack beside the object.
type Facts struct {
	// SpecFields are the fields that the spec sets.
	SpecFields []string
	// Updating says that an Update object of the operator v2 is in flight.
	Updating bool
	// Jobs says that the controller will have --runner=job.
	Jobs bool
}

// OfStack says what becomes of the Stack.
func OfStack(stack *v1.Stack, foreseen *observe.Foresight, facts Facts) Stack {
	major, managed := stackstatus.OfOperator(stack)
	found := Stack{Namespace: stack.Namespace, Name: stack.Name, Fields: fieldsOf(facts.SpecFields, foreseen.Faults)}
	if major > 0 {
		found.Operator = fmt.Sprintf("v%d", major)
	}
	if managed {
		found.Operator, found.Outcome, found.Why = "", Managed, "this controller has run it or taken it over"
		return found
	}
	found.EditFirst = edits(foreseen, facts)
	found.Notes = notesOn(stack, foreseen, major, facts)
	found.decide(stack, foreseen)
	if facts.Updating || isUpdating(stack) {
		found.Outcome, found.Run, found.Why = WaitFirst, "", "the operator has an update in flight: wait for its end before you stop the operator, which would kill it"
	}
	return found
}

// isUpdating reports whether the status says that an update is in flight: that of v2 names it, and
// v1 has a reason for it.
func isUpdating(stack *v1.Stack) bool {
	return stack.Status.CurrentUpdate != nil || conditions.GetReason(stack, meta.ReconcilingCondition) == "StackProcessing"
}

func (s *Stack) decide(stack *v1.Stack, foreseen *observe.Foresight) {
	switch d := foreseen.Decision; {
	case len(s.EditFirst) > 0:
		s.Outcome, s.Why = EditFirst, s.EditFirst[0]
	case d.Action == decide.TakeOver:
		s.Outcome, s.Why = TakenOver, "the operator has applied it as it is"
		if foreseen.Assumed {
			s.Why += fmt.Sprintf(", unless the branch has another commit than %s: then it runs once", stack.Status.LastUpdate.LastSuccessfulCommit)
		}
	case d.Action == decide.Start:
		s.Outcome, s.Run, s.Why = Runs, string(d.Operation), foreseen.Unproven
		if s.Why == "" {
			s.Why = whyRun(stack)
		}
	case d.Action == decide.MarkSuspended:
		s.Outcome, s.Why = Suspended, "it runs once it is resumed, if a run is due"
	case d.Action == decide.RemoveFinalizer:
		s.Outcome, s.Why = Released, "it is being deleted, and its resources are kept"
	default:
		s.Outcome, s.Why = Unreadable, strings.TrimSuffix(d.Reason+": "+d.Message, ": ")
	}
}

// whyRun says why a Stack runs that the operator has applied as it is.
func whyRun(stack *v1.Stack) string {
	switch {
	case stack.DeletionTimestamp != nil:
		return "it is being deleted, and destroyOnFinalize is set"
	case stack.Spec.Preview:
		return "it only previews"
	}
	return "it was requested, or its resync is due"
}

// edits lists what keeps the controller from running the Stack.
func edits(foreseen *observe.Foresight, facts Facts) []string {
	texts := slices.Clone(foreseen.Faults)
	if d := foreseen.Decision; d.Action == decide.Fail && !slices.ContainsFunc(foreseen.Missing, func(text string) bool { return strings.Contains(d.Message, text) }) {
		texts = append(texts, d.Message)
	}
	texts = append(texts, foreseen.Missing...)
	if text := withoutBackend(foreseen, facts); text != "" && len(texts) == 0 {
		texts = append(texts, text)
	}
	return texts
}

// withoutBackend says that nothing in the Stack says where its state is.
func withoutBackend(foreseen *observe.Foresight, facts Facts) string {
	templated := facts.Jobs && slices.Contains(facts.SpecFields, "workspaceTemplate")
	if templated || len(foreseen.Unreadable) > 0 || hasVariable(foreseen, "PULUMI_BACKEND_URL") || hasVariable(foreseen, "PULUMI_ACCESS_TOKEN") {
		return ""
	}
	return "spec has neither a backend nor an access token, so the operator took them from the variables of its own pod: " +
		"set spec.backend, or PULUMI_BACKEND_URL or PULUMI_ACCESS_TOKEN in spec.envRefs"
}

func hasVariable(foreseen *observe.Foresight, name string) bool {
	return variable(foreseen, name) != nil
}

func variable(foreseen *observe.Foresight, name string) *observe.ExplainedValue {
	for i, value := range foreseen.Values {
		if value.Kind == "env" && value.Name == name {
			return &foreseen.Values[i]
		}
	}
	return nil
}
