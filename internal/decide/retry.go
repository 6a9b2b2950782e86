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
	// unavailableBackoff is the first back-off for what could not be reached. A restart
	// of a backend, or a network partition, is mostly over by then.
	unavailableBackoff = 10 * time.Second
	// conflictBackoff is the first back-off for a lock. The Pulumi operator waits as long
	// each time.
	conflictBackoff = 5 * time.Second
	// interruptedBackoff is the first back-off after an interrupted run, from the second
	// time on.
	interruptedBackoff = 10 * time.Second
)

// retryDelay is how long to wait after the end of a failed run.
func retryDelay(o Observation) time.Duration {
	if o.Last.Succeeded {
		return interruptedDelay(o, o.Failures) // what succeeded and is retried was a recovery
	}
	return delayAfter(o, o.Last.Reason, o.Failures)
}

// delayAfter is how long to wait after that many failures in a row, the last for this reason.
func delayAfter(o Observation, reason string, failures int64) time.Duration {
	switch run.RetryOf(reason) {
	case run.RetryAtOnce:
		return 0
	case run.RetryAfterRecovery:
		return interruptedDelay(o, failures)
	case run.RetrySoon:
		return backoff(unavailableBackoff, failures, o.RetryInterval)
	case run.RetryConflict:
		if o.RetryConflict {
			return backoff(conflictBackoff, failures, o.RetryInterval)
		}
	}
	return o.RetryInterval
}

// interruptedDelay is how long to wait after an interrupted run, or the recovery from it.
func interruptedDelay(o Observation, failures int64) time.Duration {
	if failures <= 1 {
		return 0
	}
	return backoff(interruptedBackoff, failures-1, o.RetryInterval)
}

// backoff doubles the delay with each failure after the first, up to the limit. It does
// not overflow, even with a limit of centuries.
func backoff(delay time.Duration, failures int64, limit time.Duration) time.Duration {
	for ; failures > 1; failures-- {
		if delay > limit/2 {
			return limit
		}
		delay *= 2
	}
	return min(delay, limit)
}

// mended reports whether a retry would not repeat what failed: other inputs, such as a
// renewed credential, other policies after a violation, or an edit, even of a field that is not
// an input.
func mended(o Observation) bool {
	others := o.Last.RunDigest != "" && o.Digest != "" && o.Digest != o.Last.RunDigest
	return o.Edited || others || policiesChanged(o)
}

// retry starts the operation once the delay since the last run has passed, and until then
// reports again how that run failed. A possible fix does not wait, nor does an approval, a
// request or the run owed for one; a recovery never is that run.
func retry(o Observation, op run.Operation) Decision {
	delay := retryDelay(o)
	wait := o.remaining(delay, o.Last.EndedAt)
	if wait <= 0 || mended(o) || approvedSince(o, op) || o.Requested || (o.RunPending && run.KindOf(op).RunsInputs) {
		return Decision{Action: Start, Operation: op}
	}
	if o.Last.Succeeded {
		return Decision{Action: Fail, Reason: v1.RunInterruptedReason, Message: recoveredMessage(o.Failures, o.Last.Message), After: wait}
	}
	action := Fail
	if run.RetryOf(o.Last.Reason) == run.RetryAfterEdit {
		action = Stall
	}
	gone := o.Last.Reason == v1.ArtifactGoneReason // it came too late, and did not fail
	return Decision{Action: action, Reason: o.Last.Reason, Message: o.Last.Message, Awaited: gone, Fetching: gone, After: wait}
}

// recoveredMessage says why the program does not run right after the recovery. cause is how
// the interrupted run failed, empty if it was killed.
func recoveredMessage(failures int64, cause string) string {
	if cause == "" {
		cause = "does Pulumi, or a provider, need more memory?"
	}
	return fmt.Sprintf("Recovered from an interrupted run. The next run waits, because %d runs in a row failed or were "+
		"interrupted: %s", failures, cause)
}
