// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// mustExist tells that the stack has to be in its backend, although no run of ours
// has found it yet: the Pulumi operator has updated it. Where it is not, the
// backend is not the one that the operator used, and to make the stack there would
// be to make everything a second time; to take it for destroyed, to leave
// everything behind.
func mustExist(stack *v1.Stack, operation run.Operation) bool {
	last := stack.Status.LastUpdate
	if last == nil || knownProject(stack).Name != "" {
		return false
	}
	if last.LastSuccessfulCommit == "" && !(ranElsewhere(stack) && last.State == v1.UpdateSucceeded) {
		return false
	}
	switch operation {
	case run.Recover:
		// A destroy that nobody saw the end of may have got to it.
		return !slices.ContainsFunc(stack.Status.Interrupted, func(lost v1.InterruptedRun) bool {
			return lost.Operation == v1.OperationDestroy
		})
	case run.Destroy:
		// Nor does a recovery of ours from one tell whether there was anything left.
		return ranElsewhere(stack) || last.Type != v1.UpdateTypeRefresh || last.State != v1.UpdateSucceeded
	}
	return true
}
