// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// outputs keeps the Secret with the outputs up to date with the last update. It reads
// them from the state instead of running the update again, and waits for no dependency,
// because it changes nothing.
//
// It is the last rule. After a failed update, the outputs of the last successful one
// stay, and a preview has none.
func outputs(o Observation) (Decision, bool) {
	secret := o.Outputs
	switch {
	case o.Preview:
		return Decision{}, false
	case secret.Blocked != "":
		return notWritten(o, secret.Blocked, o.RetryInterval), true
	case !secret.Stale:
		return Decision{}, false
	case secret.Fault == "":
		return Decision{Action: Start, Operation: run.ReadOutputs}, true
	case secret.RetryAt.IsZero():
		return notWritten(o, secret.Fault, o.RetryInterval), true
	}
	// At most the interval, in case the clock was set back.
	wait := min(o.RetryInterval, secret.RetryAt.Sub(o.Now))
	if wait <= 0 {
		return Decision{Action: Start, Operation: run.ReadOutputs}, true
	}
	return notWritten(o, secret.Fault, wait), true
}

// OutputsRetry is the delay after that many failures in a row to read the outputs. As with
// other runs, one that could not even start is retried sooner.
func OutputsRetry(outcome run.Outcome, failures int64, retryInterval time.Duration) time.Duration {
	if outcome.Effect().Retry == run.RetrySoon {
		return backoff(unavailableBackoff, failures, retryInterval)
	}
	return retryInterval
}

// notWritten reports why, and reconciles the Stack again in time for a resync.
func notWritten(o Observation, message string, after time.Duration) Decision {
	return Decision{Action: Fail, Reason: v1.OutputsFailedReason, Message: message, After: min(after, untilResync(o))}
}
