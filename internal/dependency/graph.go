// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Key names a Stack.
type Key = types.NamespacedName

// Edges are the Stacks that a Stack depends on, by dependsOn and by
// prerequisites, each once and in the order of the spec. Where references to
// other namespaces are denied they are none: they are never followed, so that a
// tenant cannot tie the Stacks of another one into a circle.
func Edges(stack *v1.Stack, sameNamespace bool) []Key {
	var edges []Key
	add := func(key Key) {
		if !slices.Contains(edges, key) && (!sameNamespace || key.Namespace == stack.Namespace) {
			edges = append(edges, key)
		}
	}
	for _, d := range stack.Spec.DependsOn {
		add(KeyOf(stack, d))
	}
	for _, p := range stack.Spec.Prerequisites {
		add(Key{Namespace: stack.Namespace, Name: p.Name})
	}
	return edges
}

// KeyOf is the Stack that a reference of another Stack leads to.
func KeyOf(stack *v1.Stack, d v1.DependencyReference) Key {
	if d.Namespace == "" {
		return Key{Namespace: stack.Namespace, Name: d.Name}
	}
	return Key{Namespace: d.Namespace, Name: d.Name}
}

// Graph returns what a Stack depends on, and nothing for one that is not there.
type Graph func(Key) ([]Key, error)

// Cycle returns a shortest way from the Stack back to itself, without naming it
// a second time, or nil if there is none. All that it reads is what the Stack
// depends on, directly or not, and each of it once.
func (g Graph) Cycle(stack Key) ([]Key, error) {
	from := map[Key]Key{}
	queue := []Key{stack}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		edges, err := g(at)
		if err != nil {
			return nil, err
		}
		for _, next := range edges {
			if next == stack {
				return wayTo(stack, at, from), nil
			}
			if _, seen := from[next]; !seen {
				from[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil, nil
}

// wayTo follows the steps back from the end of a way to its start.
func wayTo(start, end Key, from map[Key]Key) []Key {
	way := []Key{end}
	for end != start {
		end = from[end]
		way = append(way, end)
	}
	slices.Reverse(way)
	return way
}

// Reach returns all that can be reached from the Stack. It is among them only if
// it is in a circle. With a Graph of dependents it is all that depend on the
// Stack, directly or not.
func (g Graph) Reach(stack Key) (map[Key]bool, error) {
	reached := map[Key]bool{}
	queue := []Key{stack}
	for len(queue) > 0 {
		edges, err := g(queue[0])
		if err != nil {
			return nil, err
		}
		queue = queue[1:]
		for _, next := range edges {
			if !reached[next] {
				reached[next] = true
				queue = append(queue, next)
			}
		}
	}
	return reached, nil
}

// maxShown bounds how many Stacks a message names.
const maxShown = 10

// CycleText names the Stacks of a cycle, in the order in which they depend on
// each other, and the first again at the end.
func CycleText(cycle []Key) string {
	shown := cycle[:min(len(cycle), maxShown)]
	names := make([]string, 0, len(shown)+2)
	for _, key := range shown {
		names = append(names, key.String())
	}
	if len(cycle) > maxShown {
		names = append(names, "...")
	}
	return strings.Join(append(names, cycle[0].String()), " -> ")
}
