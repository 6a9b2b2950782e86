// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import v1 "github.com/flux-pulumi/pulumi-controller/api/v1"

// replacedBy is the entry of the history of a preview that says which event has replaced its result in the
// comment on the pull request.
const replacedBy = "replacedBy"

// ReplaceComment records that something else than the result of the last preview is announced for the pull
// request: once its reason is gone, nothing else would bring the result back, which is the same as before.
func ReplaceComment(stack *v1.Stack, reason string) {
	latest := stack.Status.History.Latest()
	if !stack.Spec.Preview || !HasChangeRequest(stack) || latest == nil {
		return
	}
	if latest.Metadata == nil {
		latest.Metadata = map[string]string{}
	}
	latest.Metadata[replacedBy] = reason
}

// IsCommentReplaced reports whether the comment on the pull request shows something else than the result of
// the last preview.
func IsCommentReplaced(stack *v1.Stack) bool {
	latest := stack.Status.History.Latest()
	return stack.Spec.Preview && HasChangeRequest(stack) && latest != nil && latest.Metadata[replacedBy] != ""
}
