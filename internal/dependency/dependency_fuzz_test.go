// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/fuzz"
)

// tooLong is far more than an evaluation may take, as the machine may be busy.
const tooLong = 20 * time.Second

// FuzzReadyExpr: any expression is refused, or evaluated in time, with one short line of
// text.
func FuzzReadyExpr(f *testing.F) {
	for _, seed := range []string{
		`dep.status.outputs.ready == true`, `self.spec.stack == dep.spec.stack`, `dep.status.conditions.exists(c, c.type == "Ready")`,
		`[1,2].all(x, [3].exists(y, x < y))`, `dep.metadata.name.matches("a+")`, `true ? 1 : 2`, `dep.x`, `"`, `1/0 == 1`, `dep`,
		`[1].map(a, [1].map(b, [1].map(c, c)))`, `dyn(1) == "a"`, `timestamp("x") > timestamp("y")`, `has(dep.status.outputs)`,
	} {
		f.Add(seed)
	}
	dep := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "dep"}}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return // longer than the CRD allows
		}
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "a"},
			Spec: v1.StackSpec{DependsOn: []v1.DependencyReference{{Name: "dep", ReadyExpr: text}}}}
		compiled := compile(stack)
		if compiled.err != nil {
			checkLine(t, compiled.err.Error())
			return
		}
		expression := compiled.byPlace[0]
		if expression == nil {
			if text != "" {
				t.Errorf("%q is no expression", text)
			}
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), EvaluationTime)
		defer cancel()
		started := time.Now()
		why := WhyNotBy(ctx, expression, stack, dep)
		if took := time.Since(started); took > tooLong {
			t.Errorf("it took %s", took)
		}
		checkLine(t, why)
	})
}

func checkLine(t *testing.T, text string) {
	if len(text) > maxFault+128 || strings.ContainsAny(text, "\n\r") {
		t.Errorf("not a short line: %q", text)
	}
}

// FuzzCycle: a returned path is a cycle, and the shortest. If none is returned, there is
// none.
func FuzzCycle(f *testing.F) {
	f.Add([]byte{0x01, 0x12, 0x20})
	f.Add([]byte{0x01, 0x10, 0x00})
	f.Fuzz(func(t *testing.T, data []byte) {
		const stacks = 16
		edges := map[Key][]Key{}
		name := func(n int) Key { return Key{Namespace: "apps", Name: fmt.Sprintf("s%d", n)} }
		in := fuzz.From(data)
		for range min(len(data), 64) {
			edge := in.Below(256)
			edges[name(edge/stacks)] = append(edges[name(edge/stacks)], name(edge%stacks))
		}
		graph := Graph(func(key Key) ([]Key, error) { return edges[key], nil })
		cycle, err := graph.Cycle(name(0))
		reached, reachErr := graph.Reach(name(0))
		if err != nil || reachErr != nil || (cycle != nil) != reached[name(0)] {
			t.Fatalf("cycle %v (%v), reached %v (%v)", cycle, err, reached, reachErr)
		}
		if cycle == nil {
			return
		}
		if cycle[0] != name(0) || len(cycle) != shortest(edges, name(0)) {
			t.Errorf("%v is not the shortest way in %v", cycle, edges)
		}
		for i, at := range cycle {
			next, found := cycle[(i+1)%len(cycle)], false
			for _, to := range edges[at] {
				found = found || to == next
			}
			if !found {
				t.Errorf("no way from %s to %s", at, next)
			}
		}
	})
}

// shortest returns the length of the shortest way back to start, by breadth-first search.
func shortest(edges map[Key][]Key, start Key) int {
	at := map[Key]bool{start: true}
	for steps := 1; ; steps++ {
		next := map[Key]bool{}
		for from := range at {
			for _, to := range edges[from] {
				next[to] = true
			}
		}
		if next[start] {
			return steps
		}
		at = next
	}
}
