// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	fluxcel "github.com/fluxcd/pkg/runtime/cel"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// Expressions caches the compiled readyExprs of Stacks. Compiling takes longer than the
// rest of a reconcile, so each is compiled once per generation of its Stack. It is safe
// for concurrent use.
type Expressions struct {
	compiled *lru.Cache // UID -> compiled
}

// NewExpressions returns a cache for size Stacks.
func NewExpressions(size int) *Expressions {
	return &Expressions{compiled: lru.New(size)}
}

// compiled are the expressions of one Stack, by index in dependsOn.
type compiled struct {
	generation int64
	byPlace    map[int]*fluxcel.Expression
	err        error
}

// For returns the expressions of the Stack by index in dependsOn. An error is a fault in
// the spec, and names the field.
func (e *Expressions) For(stack *v1.Stack) (map[int]*fluxcel.Expression, error) {
	if found, ok := e.compiled.Get(stack.UID); ok {
		if c, ok := found.(compiled); ok && c.generation == stack.Generation {
			return c.byPlace, c.err
		}
	}
	c := compile(stack)
	if len(c.byPlace) > 0 || c.err != nil {
		e.compiled.Add(stack.UID, c)
	}
	return c.byPlace, c.err
}

// Drop removes the expressions of a deleted Stack.
func (e *Expressions) Drop(stack types.UID) { e.compiled.Remove(stack) }

func compile(stack *v1.Stack) compiled {
	c := compiled{generation: stack.Generation, byPlace: map[int]*fluxcel.Expression{}}
	for i, d := range stack.Spec.DependsOn {
		if d.ReadyExpr == "" {
			continue
		}
		expression, err := compileOne(d.ReadyExpr)
		if err != nil {
			return compiled{generation: stack.Generation, err: fmt.Errorf("spec.dependsOn[%d].readyExpr: %w", i, err)}
		}
		c.byPlace[i] = expression
	}
	return c
}

func compileOne(text string) (*fluxcel.Expression, error) {
	expression, err := fluxcel.NewExpression(text,
		fluxcel.WithCompile(), fluxcel.WithOutputType(cel.BoolType), fluxcel.WithStructVariables("self", "dep"))
	if err != nil {
		return nil, errors.New(firstFault(text, err))
	}
	nested, err := nesting(text)
	if err != nil {
		return nil, err
	}
	if nested > maxNesting {
		return nil, fmt.Errorf("%d loops (all, exists, map, filter) are nested, and must not be more than %d", nested, maxNesting)
	}
	return expression, nil
}

// firstFault returns the first fault that CEL found, without the expression before it,
// which may be long, and the drawing of its position after it.
func firstFault(expression string, err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "'"+expression+"': "); ok {
		text, _, _ = strings.Cut(after, "\n")
	}
	return bounded.Line(text, maxFault)
}

// maxNesting bounds nested loops. A timeout does not end an evaluation at once: CEL
// checks it only every hundred steps of a loop, each of which may be another loop.
const maxNesting = 2

// nesting returns how deeply the loops of an expression are nested.
func nesting(text string) (int, error) {
	env, err := cel.NewEnv(cel.OptionalTypes())
	if err != nil {
		return 0, fmt.Errorf("failed to create a CEL environment: %w", err)
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return 0, errors.New(firstFault(text, issues.Err()))
	}
	return loops(ast.NavigateAST(parsed.NativeRep())), nil
}

func loops(e ast.NavigableExpr) int {
	deepest := 0
	for i, child := range e.Children() {
		depth := loops(child)
		if e.Kind() == ast.ComprehensionKind && i > 0 { // the first is what the loop ranges over
			depth++
		}
		deepest = max(deepest, depth)
	}
	return deepest
}

// EvaluationTime bounds the evaluation of all expressions of a Stack together. Nested
// loops over lists could take forever, and block a worker.
const EvaluationTime = time.Second

// WhyNotBy is WhyNot for a dependency with a readyExpr. An expression that cannot be
// evaluated counts as false: what it refers to may not exist yet. The context should have
// a deadline, after which nothing is evaluated any more.
func WhyNotBy(ctx context.Context, expression *fluxcel.Expression, stack, dependency *v1.Stack) string {
	if err := ctx.Err(); err != nil {
		return notEvaluated(errors.New("the time for all expressions is used up"))
	}
	self, err := fields(stack)
	if err != nil {
		return notEvaluated(err)
	}
	dep, err := fields(dependency)
	if err != nil {
		return notEvaluated(err)
	}
	holds, err := expression.EvaluateBoolean(ctx, map[string]any{"self": self, "dep": dep})
	switch {
	case err != nil:
		// The innermost error is the fault. The others repeat the expression.
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}
		return notEvaluated(err)
	case !holds:
		return "does not meet its readyExpr"
	}
	return ""
}

func notEvaluated(err error) string {
	return "does not meet its readyExpr, which cannot be evaluated: " + bounded.Line(err.Error(), maxFault)
}

// fields returns the Stack as in its manifest.
func fields(stack *v1.Stack) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stack)
	if err != nil {
		return nil, fmt.Errorf("failed to convert Stack %s/%s: %w", stack.Namespace, stack.Name, err)
	}
	object["apiVersion"], object["kind"] = v1.GroupVersion.String(), v1.StackKind
	return object, nil
}

// maxFault bounds the description of a fault in an expression, in bytes.
const maxFault = 512
