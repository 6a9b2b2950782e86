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
	if o.PreviewWaits {
		return Decision{Action: Look, After: placePatience}
	}
	return Decision{Action: Look, After: lookPatience}
}
