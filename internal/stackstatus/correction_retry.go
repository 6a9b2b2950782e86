// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// soon ends the message about a correction that could not run.
const soon = ". It is tried again, at spec.retryInterval at the latest"

// mayRunLater reports whether a run with the outcome could not run for a cause that may pass, such as a
// lock. A policy that is violated is so until the program or the drift is another one.
func mayRunLater(outcome run.Outcome) bool {
	return !isTried(outcome) && outcome != run.Cancelled && outcome != run.PolicyViolation && outcome.Effect().Fails
}

// retryCorrection has a correction that could not run, or its proposal, tried again with the delay of an
// update: nothing has changed, so that no check has to come first.
func retryCorrection(stack *v1.Stack, message, reason string, at time.Time) {
	if known := stack.Status.Drift; known != nil {
		again := v1.DriftRetry{Failures: 1, Reason: reason, LastAttemptAt: metav1.Time{Time: at}}
		if before := known.Retry; before != nil {
			again.Failures += before.Failures
		}
		known.AttemptedDigest, known.Retry = "", &again
		known.Message = bounded.Text(message, maxDriftMessage-len(soon)) + soon
	}
	reopenPlan(stack)
}

// endRetry records that the proposal of a correction could run after all.
func endRetry(stack *v1.Stack) {
	if known := stack.Status.Drift; known != nil && known.Retry != nil {
		known.Retry, known.Message = nil, ""
	}
}

// notProposed begins the message about a proposal that was not made.
func notProposed(stack *v1.Stack, record *v1.RunStatus) string {
	if p := openPlan(stack); p != nil && p.Drift == record.Drift {
		return notAgain
	}
	return noProposal
}
