// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// lookPatience is when to look again at a Stack after a preview that somebody has asked
// for was refused, or waits for its turn. One that waits is woken, so that it need not be
// as often: each look reads all that a run needs.
const (
	lookPatience  = 2 * time.Second
	placePatience = 30 * time.Second
)

// lookBetween has a preview that somebody asks for done between two runs: what is due
// comes first, as the preview would be of something that is not so any more when it is
// read.
func lookBetween(o Observation, due Decision) Decision {
	if !o.PreviewRequested || o.Run != nil || due.Action == Start || due.Action == LetGo {
		return due
	}
	if answersFirst(o, due) {
		due.After = lookPatience
		return due
	}
	if o.PreviewWaits {
		return Decision{Action: Look, After: placePatience}
	}
	return Decision{Action: Look, After: lookPatience}
}

// answersFirst has a request answered with why no run can begin, while a preview of
// another program, which can, waits for its turn. After that the request is not open.
func answersFirst(o Observation, due Decision) bool {
	return o.PreviewWaits && o.Requested && !due.Fetching && (due.Action == Fail || due.Action == Stall)
}

// KeepsTurn tells whether the Stack still wants the turn that it may wait for.
func KeepsTurn(o Observation, d Decision) bool {
	return d.Action == Start || d.Action == Look || o.PreviewRequested && o.Run == nil && answersFirst(o, d)
}
