// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// cancelled does not start an operation again that a person has cancelled, be it at the
// retry interval or at a resync. It does not hold after an edit, which clears
// Observation.Cancelled, nor for an update or a preview of other inputs, nor for the next commit of a
// pull request, whose inputs may be the same. A recovery or a
// destroy works from the state: a rotated Secret must not destroy what a person has just
// saved. What a cancelled update left in flight in the state is recovered first, as after
// any run.
func cancelled(operations ...run.Operation) func(Observation) (Decision, bool) {
	return func(o Observation) (Decision, bool) {
		last := o.Cancelled
		switch {
		case last == nil, !slices.Contains(operations, last.Operation), o.Requested:
			return Decision{}, false
		case o.Approval.approvesProposalOf(last.Operation):
			return Decision{}, false // an approval since then is of the plan that the cancelled run would only have made again
		case run.KindOf(last.Operation).RunsInputs && o.RunPending:
			return Decision{}, false // nobody requests a recovery
		case run.KindOf(last.Operation).Program == run.ProgramAlways && (last.Digest != o.Digest || isNewCommit(o)):
			return Decision{}, false
		}
		// Inputs may change without an event.
		return Decision{Action: Stall, Reason: v1.CancelRequestedReason, Message: last.Message, After: o.Interval}, true
	}
}

// cancelledUpdate holds back the program after an update, the proposal of one, or a preview
// was cancelled.
func cancelledUpdate() func(Observation) (Decision, bool) {
	return cancelled(run.Update, run.Propose, run.Preview)
}

// cancelledDestroy holds back the destroy after it or its proposal was cancelled.
func cancelledDestroy() func(Observation) (Decision, bool) {
	return cancelled(run.Destroy, run.ProposeDestroy)
}
