// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// The rules on what a run needs and does not have: no run starts with a Problem.

// fault comes before all that a run may wait for: no event elsewhere will ever let it
// start.
func fault(o Observation) (Decision, bool) {
	if o.Problem == nil || !o.Problem.Terminal {
		return Decision{}, false
	}
	return problem(o)
}

func problem(o Observation) (Decision, bool) {
	switch {
	case o.Problem == nil:
		return Decision{}, false
	case o.Problem.Terminal:
		return Decision{Action: Stall, Reason: o.Problem.Reason, Message: o.Problem.Message, After: o.RecheckAfter}, true
	default:
		return Decision{Action: Fail, Reason: o.Problem.Reason, Message: o.Problem.Message,
			Awaited: o.Problem.Awaited, Fetching: o.Problem.Fetching, After: problemDelay(o, o.Problem)}, true
	}
}

// noDestroy says how to delete the Stack nevertheless: what the destroy lacks may never be back,
// such as a state that was deleted with its pod.
func noDestroy(o Observation) (Decision, bool) {
	decision, found := problem(o)
	if found && !decision.Fetching {
		decision.Message += ". To delete the Stack without a destroy and keep its resources, set spec.destroyOnFinalize to false"
	}
	return decision, found
}

// problemDelay is when to look at a problem again.
func problemDelay(o Observation, p *Problem) time.Duration {
	if p.Since.IsZero() {
		return o.RetryInterval
	}
	return ProblemDelay(p.Since, o.Now, o.RetryInterval)
}

// ProblemDelay is when to look again at a problem that may pass by itself. It is as long
// as the problem has existed, which doubles the delay without counting the attempts.
func ProblemDelay(since, now time.Time, retryInterval time.Duration) time.Duration {
	return min(retryInterval, max(unavailableBackoff, now.Sub(since)))
}

// mayPass reports whether the Problem may soon be over by itself. One that is as old as
// the retry interval has outlived the attempts that come before it.
func mayPass(o Observation) bool {
	p := o.Problem
	return p != nil && !p.Terminal && !p.Since.IsZero() && o.Now.Sub(p.Since) < o.RetryInterval
}
