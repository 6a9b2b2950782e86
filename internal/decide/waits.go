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

// until has the Stack reconciled again at that time, a second from now at the earliest: with jitter,
// a reconcile may come a little early. It reports whether the time has come already.
func (d Decision) until(o Observation, at time.Time) (later Decision, isDue bool) {
	wait := at.Sub(o.Now)
	if wait <= 0 {
		return d, true
	}
	return d.within(max(time.Second, wait)), false
}

// remaining is what is left of the delay since then, and at most the delay, in case the clock was
// set back.
func (o Observation) remaining(delay time.Duration, since time.Time) time.Duration {
	return min(delay, delay-o.Now.Sub(since))
}

// maxCheckBackoff bounds the delay after checks that failed.
const maxCheckBackoff = 24 * time.Hour

// afterFailedChecks is when to check again after so many failures in a row, of which the last ended
// then.
func (o Observation) afterFailedChecks(failures int64, last time.Time) time.Time {
	return o.Now.Add(o.remaining(backoff(max(time.Minute, o.RetryInterval), failures, maxCheckBackoff), last))
}
