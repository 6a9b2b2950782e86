// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Key is the namespace and name of a Stack.
type Key = types.NamespacedName

// Edges returns the Stacks that a Stack depends on through dependsOn and prerequisites,
// without duplicates, in the order of the spec. With sameNamespace it leaves out
// references to other namespaces, which are denied and never followed, so that a tenant
// cannot tie another tenant's Stacks into a cycle.
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

// KeyOf returns the Stack that a reference points to.
func KeyOf(stack *v1.Stack, d v1.DependencyReference) Key {
	if d.Namespace == "" {
		return Key{Namespace: stack.Namespace, Name: d.Name}
	}
	return Key{Namespace: d.Namespace, Name: d.Name}
}

// Graph returns the dependencies of a Stack, none for one that does not exist.
type Graph func(Key) ([]Key, error)

// Cycle returns a shortest path from the Stack back to itself, without repeating it at
// the end, or nil if there is none. It reads each direct or indirect dependency only
// once.
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

// wayTo follows a path back from its end to its start.
func wayTo(start, end Key, from map[Key]Key) []Key {
	way := []Key{end}
	for end != start {
		end = from[end]
		way = append(way, end)
	}
	slices.Reverse(way)
	return way
}

// Reach returns everything reachable from the Stack. The Stack itself is included only if
// it is in a cycle. On a Graph of dependents, Reach returns all direct and indirect
// dependents.
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

// maxShown bounds how many Stacks of a cycle a message names.
const maxShown = 10

// CycleText lists the Stacks of a cycle in the order of their dependencies, ending with
// the first again.
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
