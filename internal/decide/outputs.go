// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// outputs has the Secret with the outputs be what the last update says. An update
// that has succeeded is not run again for it: the outputs are read from the state.
// It waits for no dependency, as nothing is changed by that.
//
// It is the last rule. After an update that has failed the outputs of the last one
// that succeeded stay, and a preview has none.
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
	// Never more than the interval, if a clock was set back.
	wait := min(o.RetryInterval, secret.RetryAt.Sub(o.Now))
	if wait <= 0 {
		return Decision{Action: Start, Operation: run.ReadOutputs}, true
	}
	return notWritten(o, secret.Fault, wait), true
}

// OutputsRetry is how long to wait after the outputs could not be read for that many times,
// one after the other. As with other runs, one that could not even begin is tried sooner.
func OutputsRetry(outcome run.Outcome, failures int64, retryInterval time.Duration) time.Duration {
	switch outcome {
	case run.BackendUnavailable, run.RegistryUnavailable, run.AccountFailed, run.PodFailed:
		return backoff(unavailableBackoff, failures, retryInterval)
	}
	return retryInterval
}

// notWritten tells why. The Stack is looked at again in time for a resync.
func notWritten(o Observation, message string, after time.Duration) Decision {
	return Decision{Action: Fail, Reason: v1.OutputsFailedReason, Message: message, After: min(after, untilResync(o))}
}
