// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// An update that refreshes writes to the state what it finds. If it then fails, the resources are as
// they were, and so is the state, so that a check finds no drift. Such drift is only reported: to undo
// it takes an update that compares the program with the state. A correction starts from what a check
// has found, and has no target in the state for what is gone.

// maxUnfinished bounds the resources whose URNs are kept.
const maxUnfinished = 100

// leaveUnfinished records that an update has failed that may have recorded the known drift in the
// state. A correction has refreshed its targets, any other update also what is no target.
func leaveUnfinished(stack *v1.Stack, record *v1.RunStatus) {
	known := stack.Status.Drift
	if known == nil || known.Digest == "" {
		return
	}
	var of v1.UnfinishedDrift
	if known.Unfinished != nil {
		of = *known.Unfinished
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(of.Targets, known.Targets))))
	of.Targets = all[:min(len(all), maxUnfinished)]
	of.Others = max(of.Others, int32(len(all)-len(of.Targets)))
	if !isCorrection(record) && len(stack.Spec.Targets) == 0 {
		of.Others = max(of.Others, known.Changed+known.Deleted-int32(len(known.Targets)))
	}
	known.Unfinished = unlessEmpty(of)
}

// finish records that an update has succeeded: a correction is limited to its targets, and any other
// to those of the spec.
func finish(stack *v1.Stack, record *v1.RunStatus) {
	known, full := stack.Status.Drift, false
	covers := func(urn string) bool { return slices.Contains(known.Targets, urn) }
	if !isCorrection(record) {
		if record.Generation != stack.Generation {
			return // its targets may be others
		}
		full = len(stack.Spec.Targets) == 0
		covers = func(urn string) bool { return isTargeted(stack, urn) }
	}
	known.Unfinished = without(known.Unfinished, full, covers)
}

// stillUnfinished leaves out what a check has found to differ from the state after all, and what does
// not count any more.
func stillUnfinished(stack *v1.Stack, found plan.Plan) *v1.UnfinishedDrift {
	ignore := drift.Ignore{}
	if stack.Spec.Drift != nil {
		ignore, _ = drift.NewIgnore(stack.Spec.Drift.Ignore) // with an error, the check would have failed
	}
	return without(driftStatus(stack).Unfinished, len(stack.Spec.Targets) > 0, func(urn string) bool {
		isFound := slices.ContainsFunc(found.Steps, func(step plan.Step) bool { return step.URN == urn })
		return isFound || !isTargeted(stack, urn) || ignore.Of(plan.ResourceType(urn), urn).All
	})
}

// isTargeted reports whether spec.targets does not exclude the resource.
func isTargeted(stack *v1.Stack, urn string) bool {
	return len(drift.Targets([]string{urn}, stack.Spec.Targets)) > 0
}

// without leaves out some resources, and maybe those whose URNs are not known.
func without(of *v1.UnfinishedDrift, others bool, some func(urn string) bool) *v1.UnfinishedDrift {
	if of == nil {
		return nil
	}
	left := v1.UnfinishedDrift{Targets: slices.DeleteFunc(slices.Clone(of.Targets), some), Others: of.Others}
	if others {
		left.Others = 0
	}
	return unlessEmpty(left)
}

func unlessEmpty(of v1.UnfinishedDrift) *v1.UnfinishedDrift {
	if len(of.Targets) == 0 && of.Others == 0 {
		return nil
	}
	return &of
}

// unfinishedMessage returns what became of the update that has left the drift, as long as no check has
// found other drift or failed since.
func unfinishedMessage(before v1.DriftStatus) string {
	if before.Result == v1.DriftDetectedReason && (before.CheckPending || before.Digest == "") {
		return before.Message
	}
	return ""
}

func unfinishedText(of *v1.UnfinishedDrift) string {
	return "An update has recorded the drift of " + plural.Of(len(of.Targets)+int(of.Others), "resource", "resources") +
		" in the state before it failed, so that no check sees it: the next full update that succeeds undoes it"
}
