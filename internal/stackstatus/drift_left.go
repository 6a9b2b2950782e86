// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// IsDriftUnwanted reports whether nothing asks for checks for drift. What a check on request has
// found is kept as long as its annotation.
func IsDriftUnwanted(stack *v1.Stack) bool {
	_, asked := stack.Annotations[v1.CheckDriftAnnotation]
	return stack.Spec.Drift == nil && !asked
}

// isDriftLeft reports whether the status has what spec.drift no longer asks for: drift, or a
// correction of it, which has no effect any more and could still be approved.
func isDriftLeft(stack *v1.Stack) bool {
	if IsDriftUnwanted(stack) {
		return stack.Status.Drift != nil || getCondition(stack, v1.DriftedCondition) != nil
	}
	p, known := openPlan(stack), driftStatus(stack)
	has := (p != nil && p.Drift != "") || len(known.Targets) > 0 || known.AttemptedDigest != ""
	return has && driftMode(stack) == v1.DriftReport
}

// DropDrift drops what spec.drift no longer asks for. Details that could not be deleted stay
// named, and are deleted later.
func DropDrift(stack *v1.Stack, left DriftDetails) {
	dropDriftPlan(stack, "")
	if known := stack.Status.Drift; known != nil && !IsDriftUnwanted(stack) {
		known.Targets, known.TargetDependents, known.AttemptedDigest, known.SpecDigest = nil, false, "", ""
		known.Retry, known.Proposed = nil, nil
		if known.Result == v1.DriftDetectedReason {
			known.Message = "" // it says what has become of the correction
		}
		return
	}
	stack.Status.Drift = nil
	if left.ConfigMap != "" {
		stack.Status.Drift = &v1.DriftStatus{ConfigMap: left.ConfigMap}
	}
	deleteCondition(stack, v1.DriftedCondition)
}
