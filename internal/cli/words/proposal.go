// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// ShownPlan returns what the Stack proposes or previews, nil if that is nothing, or was applied.
func ShownPlan(stack *v1.Stack) *v1.PlanStatus {
	if p := stack.Status.Plan; p != nil && p.State != v1.PlanApplied {
		return p
	}
	return nil
}

// Proposal returns what the Stack proposes, and so can be decided on.
func Proposal(stack *v1.Stack) *v1.PlanStatus {
	if p := ShownPlan(stack); p != nil && p.State != v1.PlanPreviewed {
		return p
	}
	return nil
}

// ErrNothingProposed says that there is nothing to decide on, and where there is.
func ErrNothingProposed(stack *v1.Stack) error {
	switch p := stack.Status.Plan; {
	case p == nil:
		return fmt.Errorf("no plan of Stack %s waits for an approval", stack.Name)
	case p.State == v1.PlanPreviewed:
		return ErrOnlyPreviews(stack, p.Digest)
	default:
		return fmt.Errorf("no plan of Stack %s waits for an approval: the last one, %s, was applied", stack.Name, p.Digest)
	}
}

// Notes say what a person should know of a plan before a decision.
func Notes(of *v1.PlanStatus) (notes []string) {
	if of.Difference != "" {
		notes = append(notes, "the plan has changed since the one before: "+of.Difference)
	}
	if of.Message != "" && of.State == v1.PlanProposed {
		notes = append(notes, of.Message)
	}
	if of.Unbound != "" {
		notes = append(notes, "Pulumi itself cannot be held to this plan: "+of.Unbound)
	}
	return notes
}

// ProposalText describes what the Stack proposes, in a line.
func ProposalText(of *v1.PlanStatus, counts string) string {
	what, to := "an update", " to revision "
	if of.Operation == v1.OperationDestroy {
		what = "the destroy of the stack"
	}
	if of.Drift != "" {
		what, to = what+" that undoes drift", " at revision "
	}
	if of.Revision != "" {
		what += to + of.Revision
	}
	return fmt.Sprintf("plan %s of %s: %s", of.Digest, what, counts)
}

// Waits says what the plan waits for, and how to decide on it.
func Waits(stack *v1.Stack, of *v1.PlanStatus, read plan.Plan) string {
	text := ProposalText(of, read.CountsText())
	switch of.State {
	case v1.PlanPreviewed:
		return fmt.Sprintf("%s. %v", text, ErrOnlyPreviews(stack, of.Digest))
	case v1.PlanApproved:
		return fmt.Sprintf("%s. It is approved", text)
	case v1.PlanRejected:
		return fmt.Sprintf("%s. It was rejected by %s: %s", text, of.ApprovedBy, of.Message)
	}
	return fmt.Sprintf("%s. To approve it, run flux pulumi approve stack %s -n %s", text, stack.Name, stack.Namespace)
}

// ErrOnlyPreviews says where the plan of a preview is approved.
func ErrOnlyPreviews(stack *v1.Stack, digest string) error {
	text := fmt.Sprintf("Stack %s only previews", stack.Name)
	if p := stack.Status.Plan; p != nil && p.Message != "" {
		return fmt.Errorf("%s, and its plan cannot be approved at another Stack: %s", text, p.Message)
	}
	text += ": approve the plan at the Stack that applies it"
	if of := stack.Spec.PreviewOf; of != nil {
		text += fmt.Sprintf(", with flux pulumi approve stack %s -n %s --digest %s --ahead", of.Name, cmp.Or(of.Namespace, stack.Namespace), digest)
	}
	return errors.New(text)
}

func Counts(changes v1.ResourceChanges, options int) string {
	var parts []string
	for _, part := range []struct {
		count int32
		what  string
	}{{changes.Created, "to create"}, {changes.Updated, "to update"}, {changes.Replaced, "to replace"}, {changes.Deleted, "to delete"},
		{changes.Retained, "to leave in place (retainOnDelete)"}, {int32(options), "with changed options"},
		{changes.Same - int32(options), "unchanged"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	return strings.Join(parts, ", ")
}
