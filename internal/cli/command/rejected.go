// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// isRejected reports whether the plan with the digest was rejected.
func isRejected(stack *v1.Stack, digest string) bool {
	return digest != "" && stack.Annotations[v1.RejectAnnotation] == digest
}

// rejection names who has rejected a plan, and why.
func rejection(stack *v1.Stack) string {
	by := cmp.Or(stack.Annotations[v1.ApprovedByAnnotation], "the annotation "+v1.RejectAnnotation)
	if reason := stack.Annotations[v1.RejectReasonAnnotation]; reason != "" {
		by += " (" + reason + ")"
	}
	return by
}

// stillToApprove checks whether the Stack still proposes the plan, and nobody has rejected it since it was
// shown: an approval takes a rejection back, and so only one that is known.
func stillToApprove(shown *v1.Stack, of *v1.PlanStatus) func(now *v1.Stack) error {
	return func(now *v1.Stack) error {
		if isRejected(now, of.Digest) && (!isRejected(shown, of.Digest) || rejection(now) != rejection(shown)) {
			return fmt.Errorf("the plan was rejected by %s in the meantime. To take that back, run the command again", rejection(now))
		}
		return stillProposes(of)(now)
	}
}

// errRejected says how a rejection is taken back: by whoever sees the plan.
func errRejected(stack *v1.Stack, digest string) error {
	why := ""
	if reason := stack.Annotations[v1.RejectReasonAnnotation]; reason != "" {
		why = fmt.Sprintf(" (%s)", reason)
	}
	return fmt.Errorf("plan %s was rejected%s, and --ahead does not take that back: once the Stack proposes it, approve it with "+
		"flux pulumi approve stack %s -n %s", digest, why, stack.Name, stack.Namespace)
}
