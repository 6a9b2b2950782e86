// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

// waiting returns a Stack with these expressions.
func waiting(expressions ...string) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b", UID: "b", Generation: 1, Labels: map[string]string{"version": "2"}}}
	for _, expression := range expressions {
		stack.Spec.DependsOn = append(stack.Spec.DependsOn, v1.DependencyReference{Name: "a", ReadyExpr: expression})
	}
	return stack
}

func TestExpressionsThatHoldOrNot(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"holds", `dep.metadata.name == "a" && dep.kind == "Stack" && dep.apiVersion == "pulumi.com/v1"`, ""},
		{"of the status", `dep.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')`, ""},
		{"of both", `dep.metadata.labels['version'] == self.metadata.labels['version']`, ""},
		{"of an output", `dep.status.outputs.zone == 'eu'`, ""},
		{"of two loops in one, and more one after the other", `[1].all(a, [2].exists(b, a+b == 3)) && [1, 2].filter(a, a > 1).map(a, a + 1).all(a, a == 3)`, ""},
		{"of numbers of different types", `dep.metadata.generation >= 2 && dep.status.observedGeneration == dep.metadata.generation`, ""},
		{"does not hold", `dep.metadata.name == "x"`, "does not meet its readyExpr"},
		{"asks for what is not there", `dep.status.outputs.region == 'eu'`, "does not meet its readyExpr, which cannot be evaluated: no such key: region"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			stack := waiting(test.expression)
			dep := ready(func(s *v1.Stack) {
				s.Labels = map[string]string{"version": "2"}
				s.Status.Outputs = map[string]apiextensionsv1.JSON{"zone": {Raw: []byte(`"eu"`)}}
			})
			expressions, err := dependency.NewExpressions(1).For(stack)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(dependency.WhyNotBy(t.Context(), expressions[0], stack, dep)).To(Equal(test.want))
		})
	}
}

// ending is a context that expires as soon as something waits for it: not yet before the
// evaluation, but at the first check within it.
type ending struct {
	context.Context
	over context.Context
}

func (e ending) Done() <-chan struct{} { return e.over.Done() }

func TestAnEvaluationEndsWithItsTime(t *testing.T) {
	g := NewWithT(t)
	long := `'` + strings.Repeat("a", 2000) + `'.split('')`
	stack := waiting(long + `.all(a, ` + long + `.all(b, a == b))`)
	expressions, err := dependency.NewExpressions(1).For(stack)
	g.Expect(err).NotTo(HaveOccurred())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(dependency.WhyNotBy(ending{t.Context(), over}, expressions[0], stack, ready())).To(
		Equal("does not meet its readyExpr, which cannot be evaluated: operation interrupted"))
}

func TestNothingIsEvaluatedAfterTheTimeForIt(t *testing.T) {
	g := NewWithT(t)
	stack := waiting("true")
	expressions, err := dependency.NewExpressions(1).For(stack)
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(dependency.WhyNotBy(ctx, expressions[0], stack, ready())).To(ContainSubstring("the time for all expressions is used up"))
}

func TestExpressionsThatAreWrong(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"not CEL", `dep.metadata.name ==`, "Syntax error"},
		{"no boolean", `dep.metadata.name`, "output type mismatch: expected bool, got dyn"},
		{"text", `'true'`, "output type mismatch: expected bool, got string"},
		{"a variable that is not known", `obj.metadata.name == 'a'`, "undeclared reference to 'obj'"},
		{"loops in loops", `[1].all(a, [1].map(b, [1].filter(c, c == a).size()) == [1])`, "3 loops (all, exists, map, filter) are nested"},
		{"long", `'` + strings.Repeat("ä", 2000), "Syntax error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := dependency.NewExpressions(1).For(waiting("true", test.expression))
			g.Expect(err).To(MatchError(And(HavePrefix("spec.dependsOn[1].readyExpr: "), ContainSubstring(test.want))))
			g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
			g.Expect(len(err.Error())).To(BeNumerically("<", 1000))
		})
	}
}

func TestExpressionsAreCompiledOnceForAGeneration(t *testing.T) {
	g := NewWithT(t)
	expressions := dependency.NewExpressions(2)
	stack := waiting("true", "", "1 > 0")
	first, err := expressions.For(stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(And(HaveLen(2), HaveKey(0), HaveKey(2)))

	again, err := expressions.For(stack.DeepCopy())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again[0]).To(BeIdenticalTo(first[0]))

	stack.Generation, stack.Spec.DependsOn[0].ReadyExpr = 2, "false"
	edited, err := expressions.For(stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(edited[0].String()).To(Equal("false"))

	expressions.Drop(stack.UID)
	dropped, err := expressions.For(stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(dropped[0]).NotTo(BeIdenticalTo(edited[0]))

	for _, uid := range []types.UID{"x", "y"} {
		another := waiting("true")
		another.UID = uid
		_, err := expressions.For(another)
		g.Expect(err).NotTo(HaveOccurred())
	}
	pushedOut, err := expressions.For(stack)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pushedOut[0]).NotTo(BeIdenticalTo(dropped[0]), "no more are kept than there is room for")
}
