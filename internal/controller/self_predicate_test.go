// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func TestLabelChangesReconcileOnlyStacksWithAnExpression(t *testing.T) {
	expression := func(s *v1.Stack) {
		s.Spec.DependsOn = []v1.DependencyReference{{Name: "x"}, {Name: "a", ReadyExpr: "true"}}
	}
	labelled := func(s *v1.Stack) { s.Labels = map[string]string{"version": "2"} }
	annotated := func(s *v1.Stack) { s.Annotations = map[string]string{"version": "2"} }
	written := func(s *v1.Stack) {
		s.ResourceVersion, s.Finalizers, s.Status.Failures = "2", []string{v1.StackFinalizer}, 1
	}
	for _, test := range []struct {
		name          string
		before, after *v1.Stack
		want          bool
	}{
		{"labels", stackOf("b", expression), stackOf("b", expression, labelled), true},
		{"labels that are gone", stackOf("b", expression, labelled), stackOf("b", expression), true},
		{"annotations", stackOf("b", expression), stackOf("b", expression, annotated), true},
		{"a write of ours", stackOf("b", expression, labelled), stackOf("b", expression, labelled, written), false},
		{"labels without an expression", stackOf("b", dependsOn("a")), stackOf("b", dependsOn("a"), labelled), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			passes := selfChangedPredicate().Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after})
			NewWithT(t).Expect(passes).To(Equal(test.want))
		})
	}
}
