// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// annotate sets annotations, given as alternating names and values.
func annotate(pairs ...string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		for i := 0; i < len(pairs); i += 2 {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, pairs[i], pairs[i+1])
		}
	}
}

// ups counts the updates.
func (t *tenant) ups() int {
	t.test.Helper()
	count := 0
	for _, verb := range t.verbs() {
		if verb == "up" {
			count++
		}
	}
	return count
}

func TestAForcedRunUndoesDriftAndAnOrdinaryOneDoesNot(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(twoThings("x", "y")))
	stack := u.stack(fromProgram)
	u.apply(stack)
	u.awaitReady(stack)
	u.edited("b", "drifted")

	token := request(u, stack)
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).To(Equal(token)) })
	u.Expect(u.things()).To(HaveKeyWithValue("b", "drifted"))
	u.Expect(u.ups()).To(Equal(2))

	edit(u, stack, annotate(meta.ForceRequestAnnotation, "now"))
	edit(u, stack, annotate(meta.ReconcileRequestAnnotation, "another"))
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).To(Equal("another")) })
	u.Expect(u.things()).To(HaveKeyWithValue("b", "drifted"), "the values have to be the same")

	edit(u, stack, annotate(meta.ForceRequestAnnotation, "force", meta.ReconcileRequestAnnotation, "force"))
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledForceAt).To(Equal("force")) })
	u.Expect(u.things()).To(HaveKeyWithValue("b", "x"))
	u.Expect(u.ups()).To(Equal(4))
}

func TestTheRequestOfThePulumiOperatorStartsOneRun(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, func(s *v1.Stack) { s.Spec.Interval = &metav1.Duration{Duration: 2 * time.Second} })
	u.apply(stack)
	u.awaitReady(stack)

	edit(u, stack, annotate(v1.ReconcileRequestAnnotation, "please"))
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.ObservedReconcileRequest).To(Equal("please")) })
	u.Expect(u.ups()).To(Equal(2))
	before := u.reconcilesOf(stack)
	u.Eventually(func() int { return u.reconcilesOf(stack) }).Should(BeNumerically(">=", before+quietIntervals))
	u.Expect(u.ups()).To(Equal(2), "each value counts once")
}
