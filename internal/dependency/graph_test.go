// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	fluxdependency "github.com/fluxcd/pkg/runtime/dependency"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

func key(name string) dependency.Key { return dependency.Key{Namespace: "default", Name: name} }

// graph maps each Stack to its dependencies. Each Stack is a letter.
func graph(edges map[string]string) dependency.Graph {
	return func(k dependency.Key) ([]dependency.Key, error) {
		var keys []dependency.Key
		for _, letter := range edges[k.Name] {
			keys = append(keys, key(string(letter)))
		}
		return keys, nil
	}
}

func TestCycle(t *testing.T) {
	for _, test := range []struct {
		name  string
		edges map[string]string
		of    string
		want  string
	}{
		{"a Stack without dependencies", map[string]string{}, "a", ""},
		{"a chain", map[string]string{"a": "b", "b": "c"}, "a", ""},
		{"two ways to one Stack are no circle", map[string]string{"a": "bc", "b": "d", "c": "d"}, "a", ""},
		{"a Stack that depends on itself", map[string]string{"a": "a"}, "a", "default/a -> default/a"},
		{"two", map[string]string{"a": "b", "b": "a"}, "b", "default/b -> default/a -> default/b"},
		{"three, beginning at the Stack itself", map[string]string{"a": "b", "b": "c", "c": "a"}, "b", "default/b -> default/c -> default/a -> default/b"},
		{"the shortest of more than one", map[string]string{"a": "bd", "b": "c", "c": "a", "d": "a"}, "a", "default/a -> default/d -> default/a"},
		{"one that only leads into a circle is not in it", map[string]string{"a": "b", "b": "c", "c": "b"}, "a", ""},
		{"one that a circle leads to is not in it", map[string]string{"a": "b", "b": "ac", "c": ""}, "c", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			cycle, err := graph(test.edges).Cycle(key(test.of))
			g.Expect(err).NotTo(HaveOccurred())
			if test.want == "" {
				g.Expect(cycle).To(BeNil())
				return
			}
			g.Expect(dependency.CycleText(cycle)).To(Equal(test.want))
		})
	}
}

func TestAMessageNamesTheFirstStacksOfALongCycle(t *testing.T) {
	g := NewWithT(t)
	next := func(k dependency.Key) ([]dependency.Key, error) {
		var n int
		_, err := fmt.Sscanf(k.Name, "s%d", &n)
		return []dependency.Key{key(fmt.Sprintf("s%d", (n+1)%1000))}, err
	}
	cycle, err := dependency.Graph(next).Cycle(key("s0"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cycle).To(HaveLen(1000))
	g.Expect(dependency.CycleText(cycle)).To(HaveSuffix("default/s9 -> ... -> default/s0"))
}

func TestAReadErrorIsReturned(t *testing.T) {
	g := NewWithT(t)
	broken := dependency.Graph(func(dependency.Key) ([]dependency.Key, error) { return nil, errors.New("connection refused") })
	_, err := broken.Cycle(key("a"))
	g.Expect(err).To(MatchError("connection refused"))
	_, err = broken.Reach(key("a"))
	g.Expect(err).To(MatchError("connection refused"))
}

// randomGraph returns a random graph in which some Stacks depend on a missing one.
func randomGraph(r *rand.Rand) map[string]string {
	const letters = "abcdefgh"
	edges := map[string]string{}
	density := r.Float64() / 2
	for _, from := range letters[:1+r.IntN(len(letters)-1)] {
		edges[string(from)] = ""
		for _, to := range letters {
			if r.Float64() < density {
				edges[string(from)] += string(to)
			}
		}
	}
	return edges
}

// closure returns everything reachable, computed in a different way: it extends paths
// until nothing new is found.
func closure(edges map[string]string) map[string]map[string]bool {
	reached := map[string]map[string]bool{}
	for from, tos := range edges {
		reached[from] = map[string]bool{}
		for _, to := range tos {
			reached[from][string(to)] = true
		}
	}
	for range edges {
		for from := range reached {
			for via := range reached[from] {
				for to := range reached[via] {
					reached[from][to] = true
				}
			}
		}
	}
	return reached
}

func TestExactlyTheStacksInACycleAreFound(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		edges := randomGraph(r)
		want := closure(edges)
		cyclic := false
		for name := range edges {
			g := NewWithT(t)
			cycle, err := graph(edges).Cycle(key(name))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cycle != nil).To(Equal(want[name][name]), "seed %d: %s in %v", seed, name, edges)
			checkWay(g, edges, key(name), cycle)
			cyclic = cyclic || cycle != nil

			reached, err := graph(edges).Reach(key(name))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(reached).To(HaveLen(len(want[name])))
			for to := range want[name] {
				g.Expect(reached).To(HaveKey(key(to)), "seed %d: from %s in %v", seed, name, edges)
			}
		}
		// Flux can sort a graph only if it has no cycle.
		_, err := fluxdependency.Sort(stacksOf(edges))
		NewWithT(t).Expect(err != nil).To(Equal(cyclic), "seed %d: %v", seed, edges)
	}
}

// checkWay checks that each Stack of a cycle depends on the next.
func checkWay(g Gomega, edges map[string]string, start dependency.Key, cycle []dependency.Key) {
	if cycle == nil {
		return
	}
	g.Expect(cycle[0]).To(Equal(start))
	for i, at := range cycle {
		next := cycle[(i+1)%len(cycle)]
		g.Expect(edges[at.Name]).To(ContainSubstring(next.Name), "%v in %v", cycle, edges)
	}
}

func stacksOf(edges map[string]string) []fluxdependency.Dependent {
	var stacks []fluxdependency.Dependent
	for from, tos := range edges {
		stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: from}}
		for _, to := range tos {
			stack.Spec.DependsOn = append(stack.Spec.DependsOn, v1.DependencyReference{Name: string(to)})
		}
		stacks = append(stacks, stack)
	}
	return stacks
}

func TestEdges(t *testing.T) {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"}, Spec: v1.StackSpec{
		DependsOn:     []v1.DependencyReference{{Name: "a"}, {Name: "b", Namespace: "other"}, {Name: "c", Namespace: "default"}},
		Prerequisites: []v1.PrerequisiteReference{{Name: "c"}, {Name: "d"}},
	}}
	g := NewWithT(t)
	g.Expect(dependency.Edges(stack, false)).To(Equal([]dependency.Key{key("a"), {Namespace: "other", Name: "b"}, key("c"), key("d")}))
	g.Expect(dependency.Edges(stack, true)).To(Equal([]dependency.Key{key("a"), key("c"), key("d")}),
		"one of another namespace is none where it is denied")
	g.Expect(stack.GetDependsOn()).To(HaveLen(3))
	g.Expect(stack.GetDependsOn()[1].String()).To(Equal("other/b"))
}
