// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"fmt"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// unavailableBackoff is the first wait for what was out of reach. A restart of
	// a backend, or a gap in the network, is over after it more often than not.
	unavailableBackoff = 10 * time.Second
	// conflictBackoff is the first wait for a lock. The Pulumi operator waits as
	// long each time.
	conflictBackoff = 5 * time.Second
	// interruptedBackoff is the first wait for inputs whose run was interrupted,
	// from the second time on.
	interruptedBackoff = 10 * time.Second
)

// retryDelay is how long to wait after the end of a run that failed. One that
// could not even begin, for a cause that may pass by itself, is tried sooner
// than one that Pulumi failed: nothing was done, so that nothing is done twice.
// One that was told to stop did not fail.
func retryDelay(o Observation) time.Duration {
	switch {
	case o.Last.Cancelled:
		return 0
	case o.Last.Interrupted, o.Last.Succeeded:
		// What has succeeded and is followed by another run is a recovery.
		if o.Failures <= 1 {
			return 0
		}
		return backoff(interruptedBackoff, o.Failures-1, o.RetryInterval)
	case o.Last.Unavailable:
		return backoff(unavailableBackoff, o.Failures, o.RetryInterval)
	case o.Last.Locked && o.RetryConflict:
		return backoff(conflictBackoff, o.Failures, o.RetryInterval)
	}
	return o.RetryInterval
}

// backoff doubles the delay with each failure after the first, up to the limit. A
// limit of centuries must not have it pass the longest duration there is.
func backoff(delay time.Duration, failures int64, limit time.Duration) time.Duration {
	for ; failures > 1; failures-- {
		if delay > limit/2 {
			return limit
		}
		delay *= 2
	}
	return min(delay, limit)
}

// mended tells that what is to be run is not what has failed: other inputs, as a
// credential that had expired, or an edit, also of a field that is none of the inputs.
func mended(o Observation) bool {
	others := o.Last.RunDigest != "" && o.Digest != "" && o.Digest != o.Last.RunDigest
	return o.Edited || others
}

// retry starts the operation once the delay has passed since the last run, or
// says again how that run failed. What may have mended it does not wait, nor does a
// request, or the run that is owed for one; a recovery is none.
func retry(o Observation, op run.Operation) Decision {
	delay := retryDelay(o)
	// Never more than the delay, if a clock was set back.
	wait := min(delay, delay-o.Now.Sub(o.Last.EndedAt))
	if wait <= 0 || mended(o) || o.Requested || (o.Owed && op != run.Recover) {
		return Decision{Action: Start, Operation: op}
	}
	if o.Last.Succeeded {
		return Decision{Action: Fail, Reason: v1.RunInterruptedReason, Message: recoveredMessage(o.Failures), After: wait}
	}
	action := Fail
	if o.Last.Invalid {
		action = Stall // an edit mends it, or, in the namespace, a change of its defaults for pods
	}
	return Decision{Action: action, Reason: o.Last.Reason, Message: o.Last.Message, After: wait}
}

// recoveredMessage tells why what was recovered from is not run at once.
func recoveredMessage(failures int64) string {
	return fmt.Sprintf("Recovered from an interrupted run. The next one waits, as %d runs have failed or were interrupted one after "+
		"the other: does Pulumi, or a provider, need more memory?", failures)
}

// problemDelay is when to look again at a problem. One that may pass by itself is
// waited for as long again as it has been there: nobody counts the looks.
func problemDelay(o Observation) time.Duration {
	if o.Problem.Since.IsZero() {
		return o.RetryInterval
	}
	return min(o.RetryInterval, max(unavailableBackoff, o.Now.Sub(o.Problem.Since)))
}
