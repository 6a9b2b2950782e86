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
// everything behind. That holds for a destroy too, as none is begun before a run has
// found the stack: after one that nobody saw the end of, nobody could tell.
func mustExist(stack *v1.Stack) bool {
	if info := stack.Status.ProjectInfo; info != nil && info.UpdatedElsewhere {
		return true
	}
	return updatedElsewhere(stack)
}

// updatedElsewhere tells, before the first run of ours, that another controller has
// begun to update the stack: the Pulumi operator, which writes no digest. Whether the
// update has failed, or nobody has seen its end, it may have made something. A stack
// that it has destroyed is gone.
func updatedElsewhere(stack *v1.Stack) bool {
	if stack.Status.CurrentUpdate != nil {
		return true // the first record of a run of ours drops it, so that it came after that
	}
	last := stack.Status.LastUpdate
	switch {
	case last == nil, ranHere(stack):
		return false
	case last.Type == v1.UpdateTypePreview:
		return last.LastSuccessfulCommit != ""
	}
	return last.Type != v1.UpdateTypeDestroy || last.State != v1.UpdateSucceeded
}

// mustLook tells that no run of ours has found the stack yet, or that somebody else has
// been at work on it since, so that whoever has run it may have left something in
// flight. To a preview that is nothing: it makes nothing a second time.
func mustLook(stack *v1.Stack, operation run.Operation) bool {
	info := stack.Status.ProjectInfo
	return operation != run.Preview && (info == nil || info.Backend == "" || info.LockedElsewhere || mustExist(stack))
}

// noteLock notes a lock of somebody else, until a run has looked at the stack after it.
// What was found before a run met the lock proves nothing: its holder was at work then.
func noteLock(info *v1.ProjectInfo, result *run.Result) {
	switch {
	case result.Outcome == run.Locked:
		info.LockedElsewhere = true
	case result.Backend != "":
		info.LockedElsewhere = false // no run that is to look tells of a backend without
	}
}

// ranHere tells that a run of ours has been recorded, or that what another
// controller has applied was taken over. The Pulumi operator writes a project too,
// but no digest and no backend.
func ranHere(stack *v1.Stack) bool {
	status := &stack.Status
	info := status.ProjectInfo
	return status.LastAttemptedDigest != "" || status.LastAppliedDigest != "" || len(status.History) > 0 ||
		status.Run != nil || len(status.Interrupted) > 0 ||
		(info != nil && (info.UpdatedElsewhere || info.Backend != ""))
}

// foundStack notes that a run of ours has found the stack, in a backend that the
// failures before it may not have been about.
func foundStack(stack *v1.Stack) {
	if info := stack.Status.ProjectInfo; info != nil && info.UpdatedElsewhere {
		info.UpdatedElsewhere, stack.Status.Failures = false, 0
	}
}

// noteDestroyed takes in that a recovery from a destroy has not found the stack. That
// destroy only began with a stack that was there, so that it has removed it. Where
// nothing proves that, a stack that was found before and is missing now was not
// destroyed.
func noteDestroyed(stack *v1.Stack, result *run.Result) {
	destroying := slices.ContainsFunc(stack.Status.Interrupted, func(lost v1.InterruptedRun) bool { return lost.Operation == v1.OperationDestroy })
	if !destroying || result.Backend != "" {
		return
	}
	if info := stack.Status.ProjectInfo; info != nil {
		info.Backend = ""
	}
	stack.Status.Resources, stack.Status.LastAppliedDigest = nil, ""
}
