// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// The digest of a plan has a key and the digest of the inputs. For a preview with spec.previewOf, both are
// those of the Stack that runs the same change later, with the program of the preview: if that makes the
// same plan then, the digest is the same, and what was approved in between is applied.

// PreviewedStack is the Stack that a preview names.
func PreviewedStack(stack *v1.Stack) client.ObjectKey {
	ref := stack.Spec.PreviewOf
	return client.ObjectKey{Namespace: cmp.Or(ref.Namespace, stack.Namespace), Name: ref.Name}
}

// Comparison is what the plan of a preview is made with.
type Comparison struct {
	// Namespace has the key of the plan, and Inputs are those that it is made from.
	Namespace string
	Inputs    inputs.PlanInputs
	// Incomparable is why they are those of the preview itself, "" if they are those of the Stack that
	// it names.
	Incomparable string
	// AfterRun is the run of that Stack that has changed something last.
	AfterRun string
}

const (
	// maxIncomparable bounds why plans cannot be compared, in bytes.
	maxIncomparable = 1024
	// ofNoStack is why the plan of a preview without spec.previewOf cannot be approved.
	ofNoStack = "spec.previewOf names no Stack that the plan could be approved for"
)

// Compare returns what the plan of the preview is made with. It returns only errors of the API server.
func (o *Observer) Compare(ctx context.Context, stack *v1.Stack, seen *Observation) (Comparison, error) {
	own := Comparison{Namespace: stack.Namespace, Inputs: seen.PlanInputs, Incomparable: ofNoStack}
	if stack.Spec.PreviewOf == nil {
		return own, nil
	}
	previewed, why, err := o.previewed(ctx, stack)
	if err != nil {
		return Comparison{}, err
	}
	if own.Incomparable = why; why != "" {
		return own, nil
	}
	of, why, err := o.planInputsOf(ctx, previewed, seen.Program)
	if err != nil {
		return Comparison{}, err
	}
	own.AfterRun = stackstatus.LastChange(previewed)
	if why == "" {
		return Comparison{Namespace: previewed.Namespace, Inputs: of, AfterRun: own.AfterRun}, nil
	}
	own.Incomparable = fmt.Sprintf("the inputs of Stack %s cannot be resolved with the program of this preview", client.ObjectKeyFromObject(previewed))
	if previewed.Namespace == stack.Namespace { // or its readers may not be allowed to know
		own.Incomparable = bounded.Text(own.Incomparable+": "+why, maxIncomparable)
	}
	return own, nil
}

// previewed reads the Stack that the preview names, or returns why their plans cannot be compared. Whoever
// may not know whether there is such a Stack does not find out.
func (o *Observer) previewed(ctx context.Context, stack *v1.Stack) (*v1.Stack, string, error) {
	key := PreviewedStack(stack)
	found, err := o.findStack(ctx, key)
	switch {
	case err != nil:
		return nil, "", err
	case key.Namespace != stack.Namespace && (found == nil || !allowsPreviewsOf(found, stack.Namespace)):
		return nil, fmt.Sprintf("there is no Stack %s, or its spec.approval.previewNamespaces does not list the namespace %s", key, stack.Namespace), nil
	case found == nil:
		return nil, fmt.Sprintf("there is no Stack %s, which spec.previewOf names", key), nil
	case found.Spec.Preview:
		return nil, fmt.Sprintf("Stack %s, which spec.previewOf names, only previews itself", key), nil
	case !found.DeletionTimestamp.IsZero():
		return nil, fmt.Sprintf("Stack %s, which spec.previewOf names, is being deleted", key), nil
	}
	return found, "", nil
}

// allowsPreviewsOf reports whether Stacks of another namespace may name the Stack in spec.previewOf.
func allowsPreviewsOf(stack *v1.Stack, namespace string) bool {
	return stack.Spec.Approval != nil && slices.Contains(stack.Spec.Approval.PreviewNamespaces, namespace)
}

// observePreviewOf refuses a preview of another stack than that of the Stack that it names, and finds out whether
// that has changed since.
func (o *Observer) observePreviewOf(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if stack.Spec.PreviewOf == nil {
		seen.PreviewOutdated = stackstatus.MakesPlan(stack) && stackstatus.IsOtherReason(stack, ofNoStack, seen.Now)
		return nil
	}
	found, why, err := o.previewed(ctx, stack)
	switch {
	case err != nil:
		return err
	case found == nil:
		seen.PreviewOutdated = stackstatus.IsOtherReason(stack, why, seen.Now)
		return nil
	case found.Spec.Stack != stack.Spec.Stack:
		return &invalidSpecError{fmt.Errorf("spec.stack must be that of the Stack %s in spec.previewOf, %s", client.ObjectKeyFromObject(found), found.Spec.Stack)}
	case found.Spec.Backend != stack.Spec.Backend:
		return &invalidSpecError{fmt.Errorf("spec.backend must be that of the Stack %s in spec.previewOf", client.ObjectKeyFromObject(found))}
	}
	seen.PreviewOutdated = stackstatus.IsOutdated(stack, found)
	return nil
}

// observeRefusedCommit finds the commit of a pull request that is not previewed because of a problem that came before
// its program: without it, the pull request would show nothing of the commit.
func (o *Observer) observeRefusedCommit(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if !seen.Preview || seen.Program.Revision != "" || seen.local != nil || stack.Spec.FluxSource == nil || !stackstatus.HasChangeRequest(stack) {
		return nil
	}
	program, err := o.sourceProgram(ctx, stack)
	if err != nil && problemOf(err) == nil {
		return err
	}
	seen.Program.Revision, seen.Program.OriginRevision = program.Revision, program.OriginRevision
	return nil
}

// observeComparison finds out whether the reason is gone why the plan of the last preview cannot be approved: the
// pull request would show it until the next commit. It reads the values of the other Stack only for such a plan.
func (o *Observer) observeComparison(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	seen.Incomparable = stack.Spec.PreviewOf != nil && stackstatus.IsIncomparable(stack)
	if seen.PreviewOutdated || !seen.Incomparable {
		return nil
	}
	comparison, err := o.Compare(ctx, stack, seen)
	if err != nil {
		return err
	}
	seen.PreviewOutdated = stackstatus.IsOtherReason(stack, comparison.Incomparable, seen.Now)
	return nil
}

// planInputsOf returns the inputs of the Stack for a plan of the program, or why they cannot
// be resolved. It reads each value: what is kept of the Stack is of its own program.
func (o *Observer) planInputsOf(ctx context.Context, stack *v1.Stack, program Program) (of inputs.PlanInputs, why string, err error) {
	seen := o.observeStack(stack)
	seen.Program, seen.Suspended = program, false // once it is resumed, it runs with its packs
	if err := o.observePolicies(ctx, stack, seen); err != nil {
		return of, "", err
	}
	problem := seen.Policies.Problem
	if seen.Policies.Unreadable {
		return of, "", fmt.Errorf("failed to find the policy packs of Stack %s: %s", client.ObjectKeyFromObject(stack), problem.Message)
	}
	if problem == nil {
		err = o.validate(stack)
		if err == nil {
			err = o.observeIdentity(ctx, stack, seen)
		}
		if err == nil {
			err = o.resolve(ctx, stack, seen)
		}
		if err == nil {
			err = o.digestRun(stack, seen, "")
		}
		problem = problemOf(err)
	}
	if problem != nil {
		return of, whyOf(problem), nil
	}
	return seen.PlanInputs, "", err
}

func whyOf(problem *decide.Problem) string { return problem.Reason + ": " + problem.Message }
