// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"
	"slices"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// The conditions are set as by fluxcd/pkg/runtime/conditions, which depends on a client of the
// API server and on the clock. A test compares the two.

// maxConditionMessage is the longest message that the CRD allows.
const maxConditionMessage = 32768

// compareConditions sorts the conditions of kstatus before any others, for kubectl describe.
func compareConditions(a, b metav1.Condition) int {
	first := []string{meta.ReadyCondition, meta.ReconcilingCondition, meta.StalledCondition}
	return cmp.Or(
		-cmp.Compare(slices.Index(first, a.Type), slices.Index(first, b.Type)),
		-cmp.Compare(a.ObservedGeneration, b.ObservedGeneration), cmp.Compare(a.Type, b.Type))
}

// setCondition sets a condition. A condition that differs from the one before has no time of
// transition yet: SetTransitionTimes sets it. Unlike in apimachinery, that is also so if only
// its reason or its message differs.
func setCondition(stack *v1.Stack, conditionType string, status metav1.ConditionStatus, reason, message string) {
	if len(message) > maxConditionMessage {
		message = message[:maxConditionMessage-len("...")] + "..."
	}
	is := metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: stack.Generation}
	was := apimeta.FindStatusCondition(stack.Status.Conditions, conditionType)
	if was == nil {
		stack.Status.Conditions = append(stack.Status.Conditions, is)
	} else {
		if was.Status == is.Status && was.Reason == is.Reason && was.Message == is.Message {
			is.LastTransitionTime = was.LastTransitionTime
		}
		*was = is
	}
	observeWithReady(stack)
	slices.SortFunc(stack.Status.Conditions, compareConditions)
}

// observeWithReady gives Drifted and Compliant the generation of Ready. What is known of drift and
// of policies is about no generation, and clients take a condition of an earlier one than Ready for
// out of date.
func observeWithReady(stack *v1.Stack) {
	ready := apimeta.FindStatusCondition(stack.Status.Conditions, meta.ReadyCondition)
	for _, beside := range []string{v1.DriftedCondition, v1.CompliantCondition} {
		is := apimeta.FindStatusCondition(stack.Status.Conditions, beside)
		if ready != nil && is != nil {
			is.ObservedGeneration = ready.ObservedGeneration
		}
	}
}

// SetTransitionTimes sets the time of the conditions that have changed. Call it before the
// status is written.
func SetTransitionTimes(stack *v1.Stack, now time.Time) {
	for i := range stack.Status.Conditions {
		if changed := &stack.Status.Conditions[i]; changed.LastTransitionTime.IsZero() {
			changed.LastTransitionTime = metav1.NewTime(now.UTC().Truncate(time.Second))
		}
	}
}

// getCondition returns a copy of a condition, nil if there is none.
func getCondition(stack *v1.Stack, conditionType string) *metav1.Condition {
	return apimeta.FindStatusCondition(slices.Clone(stack.Status.Conditions), conditionType)
}

func deleteCondition(stack *v1.Stack, conditionType string) {
	apimeta.RemoveStatusCondition(&stack.Status.Conditions, conditionType)
}

// reasonOf returns the reason of a condition, "" if there is no such condition.
func reasonOf(stack *v1.Stack, conditionType string) string {
	if condition := getCondition(stack, conditionType); condition != nil {
		return condition.Reason
	}
	return ""
}

func markReady(stack *v1.Stack, status metav1.ConditionStatus, reason, message string) {
	setCondition(stack, meta.ReadyCondition, status, reason, message)
}

// markReconciling also removes Stalled: kstatus knows no Stack that is both.
func markReconciling(stack *v1.Stack, reason, message string) {
	deleteCondition(stack, meta.StalledCondition)
	setCondition(stack, meta.ReconcilingCondition, metav1.ConditionTrue, reason, message)
}
