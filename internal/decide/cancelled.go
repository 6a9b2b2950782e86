// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// cancelled begins none of the operations again that a person has cancelled: not at the
// retry interval, and not at a resync. Other inputs are another thing to do, and so is
// an edit, with which nothing is observed to be cancelled. What is in flight in the
// state after an update that was cancelled is settled before, as after any.
func cancelled(operations ...run.Operation) func(Observation) (Decision, bool) {
	return func(o Observation) (Decision, bool) {
		last := o.Cancelled
		switch {
		case last == nil, !slices.Contains(operations, last.Operation), o.Requested:
			return Decision{}, false
		case last.Operation != run.Recover && o.Owed:
			return Decision{}, false // a recovery is not what anybody asks for
		case (last.Operation == run.Update || last.Operation == run.Preview) && last.Digest != o.Digest:
			return Decision{}, false
		}
		// Inputs may change without a word.
		return Decision{Action: Stall, Reason: v1.CancelRequestedReason, Message: last.Message, After: o.Interval}, true
	}
}
