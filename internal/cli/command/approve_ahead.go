// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

// planDigest is the form of the digest of a plan.
var planDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// checkAhead checks the flags of an approval ahead.
func checkAhead(ahead bool, digest string) error {
	switch {
	case !ahead:
		return nil
	case digest == "":
		return errors.New("--ahead needs --digest: a plan that is not proposed yet is known by its digest alone")
	case !planDigest.MatchString(digest):
		return errors.New("--digest must be sha256: and 64 hexadecimal digits, as in the comment on the pull request")
	}
	return nil
}

// approveAhead approves a plan that the Stack does not propose yet. Nothing can be shown of it.
func (s *session) approveAhead(ctx context.Context, api client.Client, stack *v1.Stack, digest string, yes bool) error {
	if err := mayApproveAhead(stack, digest); err != nil {
		return err
	}
	if p := stack.Status.Plan; p != nil && p.Digest == digest && p.State == v1.PlanApplied {
		s.Successf("plan %s was applied already", digest)
		return nil
	}
	s.Warningf("the plan is not shown: Stack %s does not propose it yet. It applies the plan if it proposes exactly that", stack.Name)
	if stack.Spec.Approval == nil || stack.Spec.Approval.Require == "" || stack.Spec.Approval.Require == v1.ApprovalNever {
		s.Warningf("the Stack applies any other plan as well, because spec.approval.require is not set")
	}
	if before := stack.Annotations[v1.ApproveAnnotation]; before != "" && before != digest {
		s.Warningf("this replaces the approval of plan %s: if the Stack proposes that one, it waits", before)
	}
	if !yes {
		if err := s.confirm(ctx, "Approve this plan?"); err != nil {
			return err
		}
	}
	user, err := s.decide(ctx, api, stack, func(now *v1.Stack) error { return mayApproveAhead(now, digest) }, approvalAheadOf(digest))
	if err != nil {
		return err
	}
	s.Successf("plan %s approved ahead as %s", digest, user)
	return nil
}

// approvalAheadOf are the annotations with which a user approves a plan ahead. A rejection of another plan
// stays: whoever approves ahead sees neither.
func approvalAheadOf(digest string) func(user string) map[string]any {
	return func(user string) map[string]any {
		return map[string]any{v1.ApproveAnnotation: digest, v1.ApprovedByAnnotation: user}
	}
}

// mayApproveAhead returns why another plan cannot be approved now: the Stack has room for one
// approval.
func mayApproveAhead(stack *v1.Stack, digest string) error {
	if stack.Spec.Preview {
		return words.ErrOnlyPreviews(stack, digest)
	}
	if isRejected(stack, digest) {
		return errRejected(stack, digest)
	}
	if of := words.Proposal(stack); of != nil && of.Digest != digest && stack.Annotations[v1.ApproveAnnotation] == of.Digest {
		return fmt.Errorf("plan %s is approved and not applied yet, and this would take that back: try again when it is applied", of.Digest)
	}
	return nil
}
