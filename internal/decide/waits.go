// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// within has the Stack reconciled again after that long at the latest.
func (d Decision) within(wait time.Duration) Decision {
	if d.After == 0 || wait < d.After {
		d.After = wait
	}
	return d
}

// remaining is what is left of the delay since then, and at most the delay, in case the clock was
// set back.
func (o Observation) remaining(delay time.Duration, since time.Time) time.Duration {
	return min(delay, delay-o.Now.Sub(since))
}
