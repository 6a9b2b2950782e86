// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Duty is something to do before the action, which no action stands for: it may be due
// whatever is decided. The set is closed.
type Duty string

const (
	// RestoreFinalizer puts back a finalizer that was removed by a kubectl replace or a
	// restore. Without it, the object would go without a destroy and without notice.
	RestoreFinalizer Duty = "RestoreFinalizer"
	// RepeatCancel passes the recorded cancel on to the runner, which may not have received
	// when it was recorded.
	RepeatCancel Duty = "RepeatCancel"
	// ConfirmFindings tells the run in flight that the status has what it waits for: the
	// answer to that write may have been lost.
	ConfirmFindings Duty = "ConfirmFindings"
	// WithdrawPreview drops a preview that is queued and no longer requested.
	WithdrawPreview Duty = "WithdrawPreview"
	// DeleteFormerOutputs deletes the Secret with outputs that the spec no longer names.
	DeleteFormerOutputs Duty = "DeleteFormerOutputs"
	// WriteInventory writes an inventory that could not be written before, also in a
	// deletion: it has what a failed destroy has left.
	WriteInventory Duty = "WriteInventory"
	// DropInventory drops an inventory that could not be written, of an object that goes.
	DropInventory Duty = "DropInventory"
	// DropDrift drops what spec.drift no longer asks for, of drift or of its correction.
	DropDrift Duty = "DropDrift"
	// ScheduleDrift records since when an existing Stack is to be checked for drift: with many that get
	// a schedule at once, the first checks are spread over the time after that.
	ScheduleDrift Duty = "ScheduleDrift"
	// DropPolicies drops what the status has of policies, as no PolicySet selects the Stack.
	DropPolicies Duty = "DropPolicies"
	// RunPrerequisites asks the prerequisites that are too old to run again.
	RunPrerequisites Duty = "RunPrerequisites"
)

// dutyRule says when a duty is due, and why, for Explain.
type dutyRule struct {
	duty Duty
	why  string
	due  func(Observation, Decision) bool
}

// dutyRules lists all duties in the order in which they are done.
func dutyRules() []dutyRule {
	return []dutyRule{
		{RestoreFinalizer, "the finalizer was removed, and there may be something to undo", finalizerMissing},
		{RepeatCancel, "the run in flight is to be cancelled", cancelRecorded},
		{ConfirmFindings, "the run in flight may be waiting for what the status contains", findingsUnconfirmed},
		{WithdrawPreview, "the preview that is queued is no longer requested", previewUnwanted},
		{DeleteFormerOutputs, "the outputs are in a Secret that the spec no longer names", outputsMoved},
		{WriteInventory, "the inventory of a run could not be written before", inventoryDue},
		{DropInventory, "the inventory of a run was never written, and the object goes", inventoryGone},
		{DropDrift, "spec.drift no longer asks for what the status has of drift", driftLeft},
		{ScheduleDrift, "the Stack was there before spec.drift", driftUnscheduled},
		{DropPolicies, "no PolicySet selects the Stack any more", policiesLeft},
		{RunPrerequisites, "the last run of a prerequisite is too old", prerequisitesStale},
	}
}

// withDuties adds to a decision what is due beside it.
func withDuties(o Observation, d Decision) Decision {
	d.Duties = nil
	for _, rule := range dutyRules() {
		if rule.due(o, d) {
			d.Duties = append(d.Duties, rule.duty)
		}
	}
	return withInventory(o, d)
}

func finalizerMissing(o Observation, _ Decision) bool {
	return !o.Deleting && !o.HasFinalizer && o.MayHaveCreated
}

func cancelRecorded(o Observation, _ Decision) bool {
	return o.Run != nil && o.Run.Phase == run.Running && o.Run.CancelRecorded
}

// findingsUnconfirmed leaves out the actions that write to the status what the run has found,
// as they confirm it too.
func findingsUnconfirmed(o Observation, d Decision) bool {
	return d.Action == Nothing && o.Run != nil && o.Run.Unconfirmed
}

func previewUnwanted(o Observation, _ Decision) bool { return o.PreviewWaits && !o.PreviewRequested }

// outputsMoved waits for the end of a run, which may be about to write to that Secret.
func outputsMoved(o Observation, _ Decision) bool {
	return o.FormerOutputs && o.Run == nil && !o.Suspended && !o.Preview && !o.Deleting
}

func inventoryDue(o Observation, d Decision) bool {
	return o.Run == nil && d.Action != RemoveFinalizer && !o.InventoryRetryAt.IsZero() && !o.Now.Before(o.InventoryRetryAt)
}

func inventoryGone(o Observation, d Decision) bool {
	return d.Action == RemoveFinalizer && !o.InventoryRetryAt.IsZero()
}

func driftLeft(o Observation, _ Decision) bool { return o.Drift.Left && o.Run == nil && !o.Deleting }

func driftUnscheduled(o Observation, _ Decision) bool {
	return o.Drift.Unscheduled && o.Run == nil && !o.Deleting
}

func prerequisitesStale(o Observation, d Decision) bool {
	return d.Action == Wait && o.StalePrerequisites
}

// withInventory reconciles the Stack again in time for an inventory that could not be written.
// Until a run has ended, none is retried.
func withInventory(o Observation, d Decision) Decision {
	if o.Run != nil || d.Action == RemoveFinalizer || o.InventoryRetryAt.IsZero() {
		return d
	}
	// At most the retry interval, in case the clock was set back. One that is written now may
	// fail again.
	wait := o.RetryInterval
	if o.Now.Before(o.InventoryRetryAt) {
		wait = min(wait, max(time.Second, o.InventoryRetryAt.Sub(o.Now)))
	}
	return d.within(wait)
}
