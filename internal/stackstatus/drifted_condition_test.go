// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestDriftedIsOfTheGenerationOfReady(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	generation := func() int64 { return getCondition(stack, v1.DriftedCondition).ObservedGeneration }
	stack.Generation = 1
	setCondition(stack, v1.DriftedCondition, metav1.ConditionFalse, v1.NoDriftReason, "none")
	g.Expect(generation()).To(BeEquivalentTo(1), "nothing else is known")
	stack.Generation = 2
	markReady(stack, metav1.ConditionTrue, meta.ReconciliationSucceededReason, "applied")
	g.Expect(generation()).To(BeEquivalentTo(2), "the edit has changed nothing of it")
	stack.Generation = 3
	setCondition(stack, v1.DriftedCondition, metav1.ConditionTrue, v1.DriftDetectedReason, "some")
	g.Expect(generation()).To(BeEquivalentTo(2), "a check does not look at the spec, as of a suspended Stack")
}
