// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func annotated(pairs ...string) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
	for i := 0; i < len(pairs); i += 2 {
		stack.Annotations[pairs[i]] = pairs[i+1]
	}
	return stack
}

func TestARequestIsAnUnhandledValue(t *testing.T) {
	const at, force, operator = meta.ReconcileRequestAnnotation, meta.ForceRequestAnnotation, v1.ReconcileRequestAnnotation
	for name, test := range map[string]struct {
		stack             *v1.Stack
		requested, forced bool
	}{
		"nothing":                      {stack: annotated()},
		"no value":                     {stack: annotated(at, "", operator, "")},
		"Flux's":                       {stack: annotated(at, "1"), requested: true},
		"the operator's":               {stack: annotated(operator, "1"), requested: true},
		"force alone":                  {stack: annotated(force, "1")},
		"force and the same request":   {stack: annotated(at, "1", force, "1"), requested: true, forced: true},
		"force and another request":    {stack: annotated(at, "2", force, "1"), requested: true},
		"force and the operator's":     {stack: annotated(operator, "1", force, "1"), requested: true},
		"a very long value":            {stack: annotated(at, strings.Repeat("x", 200<<10)), requested: true},
		"a very long value, forced":    {stack: annotated(at, strings.Repeat("x", 100<<10), force, strings.Repeat("x", 100<<10)), requested: true, forced: true},
		"new lines and broken letters": {stack: annotated(at, "a\nb\x00\xff\U0001F4A9", operator, "\n"), requested: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(Requested(test.stack)).To(Equal(test.requested))
			g.Expect(ForceRequested(test.stack)).To(Equal(test.forced))
			markHandled(test.stack)
			g.Expect(Requested(test.stack)).To(BeFalse(), "each value counts once")
			g.Expect(ForceRequested(test.stack)).To(BeFalse(), "each value counts once")
			for _, kept := range []string{test.stack.Status.LastHandledReconcileAt, test.stack.Status.LastHandledForceAt, test.stack.Status.ObservedReconcileRequest} {
				g.Expect(len(kept)).To(BeNumerically("<=", maxToken))
			}
		})
	}
	g := NewWithT(t)
	stack := annotated(force, "1")
	markHandled(stack)
	stack.Annotations[at] = "1"
	g.Expect(ForceRequested(stack)).To(BeFalse(), "as in Flux, a force that came without its request is over")
	g.Expect(Requested(stack)).To(BeTrue())
	long := annotated(at, strings.Repeat("x", maxToken+1)+"1")
	markHandled(long)
	long.Annotations[at] = strings.Repeat("x", maxToken+1) + "2"
	g.Expect(Requested(long)).To(BeTrue(), "long values are distinguished")
}
