// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// MustExist reports that the stack has to exist in its backend although no run of ours
// has found it yet: the Pulumi operator has updated it. If it is missing, the backend is
// not the one that the operator used. Creating the stack there would create every
// resource a second time, and taking it for destroyed would leave every resource behind.
// The same goes for a destroy: it does not start before a run has found the stack, since
// after a destroy whose end nobody saw, nobody could tell.
func MustExist(stack *v1.Stack) bool {
	if info := stack.Status.ProjectInfo; info != nil && info.UpdatedElsewhere {
		return true
	}
	return updatedElsewhere(stack)
}

// updatedElsewhere reports, before our first run, that another controller has started to
// update the stack: the Pulumi operator, which writes no digest. Even a failed or lost
// update may have created resources. A stack that the operator has destroyed is gone.
func updatedElsewhere(stack *v1.Stack) bool {
	if stack.Status.CurrentUpdate != nil {
		return true // our first run drops it, so this update is more recent
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

// MustInspect reports that no run of ours has found the stack yet, or that someone else has
// used it since, and may have left operations in flight.
func MustInspect(stack *v1.Stack, operation run.Operation) bool {
	info := stack.Status.ProjectInfo
	return run.KindOf(operation).InspectsFirst && (info == nil || info.Backend == "" || info.LockedElsewhere || MustExist(stack))
}

// recordLock records that someone else held the lock, until a later run has inspected the
// stack. What was found before that proves nothing, as the holder was at work.
func recordLock(info *v1.ProjectInfo, result *run.Result) {
	switch {
	case result.Outcome == run.Locked:
		info.LockedElsewhere = true
	case result.Backend != "":
		info.LockedElsewhere = false // a run that has to inspect first reports a backend only afterwards
	}
}

// ranHere reports that a run of ours was recorded, or that what another controller
// applied was taken over. The Pulumi operator writes ProjectInfo too, but no digest and
// no backend.
func ranHere(stack *v1.Stack) bool {
	status := &stack.Status
	info := status.ProjectInfo
	return status.LastAttemptedDigest != "" || status.LastAppliedDigest != "" || len(status.History) > 0 ||
		status.Run != nil || len(status.Interrupted) > 0 ||
		(info != nil && (info.UpdatedElsewhere || info.Backend != ""))
}

// recordFound records that a run of ours has found the stack. Earlier failures no longer
// count, as they may have been those of another backend.
func recordFound(stack *v1.Stack) {
	if info := stack.Status.ProjectInfo; info != nil && info.UpdatedElsewhere {
		info.UpdatedElsewhere, stack.Status.Failures = false, 0
	}
}

// recordDestroyed handles a recovery that succeeded without finding the stack: one that was
// found before is only gone after a destroy that had deleted every resource.
func recordDestroyed(stack *v1.Stack, result *run.Result) {
	if !result.Emptied || result.Backend != "" {
		return
	}
	if info := stack.Status.ProjectInfo; info != nil {
		info.Backend = ""
	}
	stack.Status.Resources, stack.Status.LastAppliedDigest = nil, ""
}

// KnownProject returns the project of the stack if the stack is known to exist: an update
// that failed half-way or was interrupted has created it too.
func KnownProject(stack *v1.Stack) run.Project {
	info, resources := stack.Status.ProjectInfo, stack.Status.Resources
	if info == nil {
		return run.Project{}
	}
	applied := stack.Status.LastAppliedDigest != "" && !isTakenOver(stack)
	found := info.Backend != "" || applied || (resources != nil && resources.Total > 0)
	if !found {
		return run.Project{}
	}
	return run.Project{Name: info.Name, Runtime: info.Runtime}
}

// KnownBackend returns the backend that the stack was last found in, or else that of the
// first interrupted run, which may have created the stack.
func KnownBackend(stack *v1.Stack) string {
	if info := stack.Status.ProjectInfo; info != nil && info.Backend != "" {
		return info.Backend
	}
	if lost := stack.Status.Interrupted; len(lost) > 0 {
		return lost[0].Backend
	}
	return ""
}
