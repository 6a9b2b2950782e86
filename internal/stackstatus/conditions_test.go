// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// TestConditionsAreSetAsByFlux sets the same conditions here and with the package of Flux.
func TestConditionsAreSetAsByFlux(t *testing.T) {
	g := NewWithT(t)
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	types := []string{meta.ReadyCondition, meta.ReconcilingCondition, meta.StalledCondition, "Healthy", "Applied"}
	texts := []string{"", "one", "two", strings.Repeat("a", maxConditionMessage+1)}
	ours, theirs := &v1.Stack{}, &v1.Stack{}
	ours.Status.Conditions = []metav1.Condition{}
	theirs.Status.Conditions = []metav1.Condition{}
	for range 500 {
		kind, reason, message := types[rand.N(len(types))], "R"+texts[rand.N(2)], texts[rand.N(len(texts))]
		ours.Generation = rand.Int64N(3)
		theirs.Generation = ours.Generation
		switch rand.N(6) {
		case 0:
			deleteCondition(ours, kind)
			conditions.Delete(theirs, kind)
		case 1:
			MarkWaiting(ours, message)
			conditions.MarkUnknown(theirs, meta.ReadyCondition, meta.ProgressingReason, "%s", message)
			conditions.MarkReconciling(theirs, meta.ProgressingReason, "%s", message)
		case 2:
			ours.Status.ObservedGeneration = 0
			MarkStalled(ours, reason, message)
			conditions.MarkFalse(theirs, meta.ReadyCondition, reason, "%s", message)
			conditions.MarkStalled(theirs, reason, "%s", message)
		default:
			status := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}[rand.N(2)]
			setCondition(ours, kind, status, reason, message)
			conditions.Set(theirs, &metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
		}
		SetTransitionTimes(ours, time.Now())
		// The package of Flux has a clock of its own: only which times are new counts.
		g.Expect(aged(theirs, ours, long)).To(Equal(ours.Status.Conditions))
	}
}

// aged returns the conditions of theirs with the times of ours where both are new, and makes
// all times old.
func aged(theirs, ours *v1.Stack, long time.Time) []metav1.Condition {
	for i := range theirs.Status.Conditions {
		if i < len(ours.Status.Conditions) {
			a, b := &theirs.Status.Conditions[i].LastTransitionTime, &ours.Status.Conditions[i].LastTransitionTime
			if a.Time.After(long) == b.Time.After(long) {
				a.Time, b.Time = long, long
			}
		}
	}
	return theirs.Status.Conditions
}
