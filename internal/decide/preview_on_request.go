// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// previewPatience is when to reconcile a Stack again whose requested preview was refused,
// and placePatience is when its preview is queued. The queue wakes the Stack, so the
// latter can be longer: each attempt reads all the inputs of a run.
const (
	previewPatience = 2 * time.Second
	placePatience   = 30 * time.Second
)

// previewBetween does a requested preview between two runs. A run that is due comes first:
// it would make the preview obsolete before anybody reads it.
func previewBetween(o Observation, due Decision) Decision {
	if !o.PreviewRequested || o.Run != nil || due.Action == Start || due.Action == KeepGitObjects || due.Action == RemoveFinalizer {
		return due
	}
	if answersFirst(o, due) {
		due.After = previewPatience
		return due
	}
	if o.PreviewWaits {
		return Decision{Action: PreviewOnRequest, After: placePatience}
	}
	return Decision{Action: PreviewOnRequest, After: previewPatience}
}

// answersFirst reports whether to answer a request with the reason why no run can start,
// while a preview of another program, which can start, is queued.
func answersFirst(o Observation, due Decision) bool {
	return o.PreviewWaits && o.Requested && !due.Fetching && (due.Action == Fail || due.Action == Stall)
}

// KeepsTurn reports whether the Stack keeps its slot, or its place in the queue.
func KeepsTurn(o Observation, d Decision) bool {
	return d.Action == Start || d.Action == PreviewOnRequest || o.PreviewRequested && o.Run == nil && answersFirst(o, d)
}
