// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// An update that undoes drift refreshes first: Pulumi writes to the state what it has found. If the
// update then fails, the resources are as they were, and so is the state, so that a check finds no
// drift. The drift counts until an update has succeeded, or a check finds it again.

// leaveUnfinished records that a correction has not come to its end.
func leaveUnfinished(stack *v1.Stack) {
	if known := stack.Status.Drift; known != nil && len(known.Targets) > 0 {
		known.Unfinished = &v1.UnfinishedCorrection{Targets: slices.Clone(known.Targets), TargetDependents: known.TargetDependents}
	}
}

// stillUnfinished leaves out what a check has found to differ from the state after all.
func stillUnfinished(of *v1.UnfinishedCorrection, found plan.Plan) *v1.UnfinishedCorrection {
	return without(of, func(urn string) bool {
		return slices.ContainsFunc(found.Steps, func(step plan.Step) bool { return step.URN == urn })
	})
}

// finish records that an update has succeeded: a correction is limited to its targets.
func finish(known *v1.DriftStatus, record *v1.RunStatus) {
	known.Unfinished = without(known.Unfinished, func(urn string) bool { return record.Drift == "" || slices.Contains(known.Targets, urn) })
}

// without leaves out some resources, nil if that is everything.
func without(of *v1.UnfinishedCorrection, some func(urn string) bool) *v1.UnfinishedCorrection {
	if of == nil {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(of.Targets), some)
	if len(left) == 0 {
		return nil
	}
	return &v1.UnfinishedCorrection{Targets: left, TargetDependents: of.TargetDependents}
}

// KeepsDrift reports whether drift that the check has not found counts all the same.
func KeepsDrift(stack *v1.Stack, found plan.Plan) bool {
	return found.IsEmpty() && driftStatus(stack).Unfinished != nil
}

// keepUnfinished keeps the drift of a correction that has not come to its end. As with drift that is
// found again, the correction is tried again if that is requested, or if it was only interrupted.
func keepUnfinished(stack *v1.Stack, record *v1.RunStatus, checked v1.DriftStatus) {
	known := driftStatus(stack)
	known.LastCheckedAt, known.LastHandledCheck, known.Ignored = checked.LastCheckedAt, checked.LastHandledCheck, checked.Ignored
	known.Result, known.Failures, known.CheckPending, known.ScheduledSince = v1.DriftDetectedReason, 0, false, nil
	if driftMode(stack) == v1.DriftReport {
		dropDriftPlan(stack, "")
	} else {
		known.SpecDigest = checkedSpecDigest(stack, record)
		known.Targets, known.TargetDependents = known.Unfinished.Targets, known.Unfinished.TargetDependents
		if record.CheckRequest != "" {
			known.AttemptedDigest = ""
		}
	}
	setDrifted(stack, &known, plan.Counts{Update: int(known.Changed), Delete: int(known.Deleted)})
}

// withUnfinished adds the resources of a correction that has not come to its end to those of the next.
func withUnfinished(known *v1.DriftStatus) {
	if of := known.Unfinished; of != nil {
		known.Targets = drift.Targets(slices.Concat(of.Targets, known.Targets), nil)
		known.TargetDependents = known.TargetDependents || of.TargetDependents
	}
}

func unfinishedText(of *v1.UnfinishedCorrection) string {
	if of == nil {
		return ""
	}
	return fmt.Sprintf("; an update has recorded the drift of %s in the state before it failed, and no check sees that: the next update that succeeds undoes it",
		plural.Of(len(of.Targets), "resource", "resources"))
}
