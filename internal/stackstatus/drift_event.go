// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxDriftNames bounds the resources that an event names.
const maxDriftNames = 3

// IsChecked reports whether a check for drift has come to a result, which may be that it has
// failed. One that was stopped has none, and is repeated.
func IsChecked(before, stack *v1.Stack, found *run.Drift) bool {
	now := stack.Status.Drift
	return now != nil && (found != nil || !equality.Semantic.DeepEqual(before.Status.Drift, now))
}

// DriftEvent announces what a check for drift has found, if that is different from what was
// known before: not each check is news. Drift and a failed check are warnings, as in Flux.
func DriftEvent(before, stack *v1.Stack, found *run.Drift) (Event, bool) {
	was, now := driftStatus(before), driftStatus(stack)
	e := Event{Type: corev1.EventTypeWarning, Reason: now.Result, Beside: true}
	if drifted := getCondition(stack, v1.DriftedCondition); drifted != nil {
		e.Message = drifted.Message
	}
	switch now.Result {
	case v1.DriftDetectedReason:
		if was.Digest == now.Digest || now.Digest == "" { // what is left of it is recorded in the state
			return Event{}, false
		}
		if found != nil {
			e.Message = plan.DriftText(found.Found.Counts()) + " outside of Pulumi: " + plan.DriftNames(found.Found, maxDriftNames)
			e.Diff = plan.DriftMarkdown(found.Found, maxDiff(stack))
		}
		if was.Digest != "" {
			e.Message = "The drift is different now: " + e.Message
		}
	case v1.DriftCheckFailedReason:
		if was.Result == now.Result {
			// Also if the message is another one: it may have counts or the IDs of requests,
			// which differ each time. The condition has it.
			return Event{}, false
		}
	case v1.NoDriftReason:
		e.Type = corev1.EventTypeNormal
		switch {
		case was.Digest != "" || was.Result == v1.DriftDetectedReason:
			e.Message = "The drift is gone"
		case was.Result == v1.DriftCheckFailedReason:
			e.Message = "The check for drift works again, and has found none"
		default:
			return Event{}, false
		}
	}
	return e, true
}

// DriftGoneEvent returns the event for a commit status after e: drift, and a failed check, have
// set the status of the commit to failed, as any warning does.
func DriftGoneEvent(stack *v1.Stack, e Event) (Event, bool) {
	if e.Reason != v1.NoDriftReason {
		return Event{}, false
	}
	return ReadyEvent(Readiness{}, stack, "", "")
}
