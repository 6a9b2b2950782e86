// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxRefusal bounds the quoted reason for a refused write, in bytes.
	maxRefusal = 500
	// maxFewCreates is how many creations of unknown outcome are named if the API server
	// accepts no more: one is enough to keep the next run from creating them again.
	maxFewCreates = 10
)

// WithoutOutputs returns the result without anything that may be large. The outputs are
// in the state.
func WithoutOutputs(result *run.Result, _ error) *run.Result {
	small := *result
	if result.Outputs == nil {
		return &small
	}
	small.LeftOut += len(result.Outputs)
	small.Outputs = map[string]json.RawMessage{}
	return &small
}

// essentials returns only what has to be known of the run. What it has forgotten is not in the
// status: an event names it, and nothing else does.
func essentials(result *run.Result) *run.Result {
	return &run.Result{
		Outcome: result.Outcome, Operation: result.Operation, Approved: result.Approved, Interrupted: result.Interrupted, Refreshed: result.Refreshed, Emptied: result.Emptied, UnknownCreates: result.UnknownCreates,
		Forgotten: result.Forgotten, Plan: result.Plan, Done: result.Done, Drift: result.Drift, Violations: withoutMessages(result.Violations), Changes: result.Changes, StartedAt: result.StartedAt, EndedAt: result.EndedAt,
	}
}

// withoutMessages returns which policies are violated, without what they say.
func withoutMessages(found run.Violations) run.Violations {
	found.Listed = slices.Clone(found.Listed)
	for i := range found.Listed {
		found.Listed[i].Message = ""
	}
	return found
}

// WithoutDetails returns only what has to be known of the run and its stack, and why the rest
// is missing.
func WithoutDetails(result *run.Result, why error) *run.Result {
	small := essentials(result)
	small.Project, small.Backend = result.Project, result.Backend
	small.Message = "The API server rejected the full result of the run; details are omitted: " + bounded.Text(why.Error(), maxRefusal)
	return small
}

// WithoutReason returns nothing that came from outside, except a few of the creations of
// unknown outcome. The times are this controller's too.
func WithoutReason(result *run.Result, began, now time.Time) *run.Result {
	small := essentials(result)
	small.StartedAt, small.EndedAt, small.Violations.Listed = began, now, nil
	small.Message = "The API server rejected the full result of the run; details are omitted here, the log of the controller has them"
	if left := len(small.UnknownCreates) - maxFewCreates; left > 0 {
		small.UnknownCreates = small.UnknownCreates[:maxFewCreates]
		small.Message += fmt.Sprintf(", and %d more creations of unknown outcome", left)
	}
	return small
}

// RecordLeftOut sets the message of a run that succeeded, which otherwise has none. That a
// run has found its stack is never left out: there may be something to destroy (NeverRan).
func RecordLeftOut(stack *v1.Stack, record *v1.RunStatus, result, reduced *run.Result) {
	if result.Backend != "" && stack.Status.ProjectInfo == nil {
		stack.Status.ProjectInfo = &v1.ProjectInfo{}
	}
	if last := stack.Status.LastRun; last != nil && last.ID == record.ID && last.Message == "" {
		last.Message, stack.Status.LastUpdate.Message = reduced.Message, reduced.Message
	}
}

// StatusRefusedReason is for events only: the status could not be written.
const StatusRefusedReason = meta.FailedReason

// RefusedText describes a status that cannot be written at all.
func RefusedText(err error) string {
	return "The API server rejects the status of the Stack, which must record that its run has ended. Nothing runs until it accepts it: " + bounded.Text(err.Error(), maxRefusal)
}
