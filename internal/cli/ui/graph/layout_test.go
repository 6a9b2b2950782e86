// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"
)

// random returns a graph of so many nodes, of which no edge leads back unless cyclic is set.
func random(seed uint64, nodes, edges int, cyclic bool) ([]Node, []Edge) {
	source := rand.New(rand.NewPCG(seed, 1))
	var list []Node
	for n := range nodes {
		key := fmt.Sprintf("team-%d/stack-%d", n%7, n)
		list = append(list, Node{ID: stackID(key), Kind: "Stack", Label: key, Stack: key})
	}
	var joined []Edge
	for range edges {
		from, to := source.IntN(nodes), source.IntN(nodes)
		if !cyclic && from > to {
			from, to = to, from
		}
		joined = append(joined, Edge{From: list[from].ID, To: list[to].ID, Kind: DependsOn})
	}
	return list, joined
}

// eachGraph calls the test with graphs of many forms.
func eachGraph(t *testing.T, test func(g *WithT, nodes []Node, edges []Edge, cyclic bool)) {
	for seed := range uint64(10) {
		for _, size := range []struct{ nodes, edges int }{{1, 0}, {2, 3}, {8, 7}, {30, 40}, {60, 20}, {40, 200}} {
			for _, cyclic := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d nodes, %d edges, cyclic %t, %d", size.nodes, size.edges, cyclic, seed), func(t *testing.T) {
					nodes, edges := random(seed, size.nodes, size.edges, cyclic)
					test(NewWithT(t), nodes, edges, cyclic)
				})
			}
		}
	}
}

func TestNoTwoNodesOverlapAndAllAreInside(t *testing.T) {
	eachGraph(t, func(g *WithT, nodes []Node, edges []Edge, _ bool) {
		drawn := Layout(nodes, edges)
		g.Expect(drawn.Nodes).To(HaveLen(len(nodes)))
		for i, a := range drawn.Nodes {
			g.Expect(a.X >= 0 && a.Y >= 0 && a.X+a.W <= drawn.Width && a.Y+a.H <= drawn.Height).To(BeTrue(), "%+v in %d x %d", a, drawn.Width, drawn.Height)
			for _, b := range drawn.Nodes[:i] {
				apart := a.X+a.W <= b.X || b.X+b.W <= a.X || a.Y+a.H <= b.Y || b.Y+b.H <= a.Y
				if !apart {
					g.Expect(apart).To(BeTrue(), "%+v and %+v", a, b)
				}
			}
		}
	})
}

func TestEdgesLeadFromLeftToRight(t *testing.T) {
	eachGraph(t, func(g *WithT, nodes []Node, edges []Edge, cyclic bool) {
		drawn := Layout(nodes, edges)
		places := byID(drawn)
		back := 0
		for _, edge := range drawn.Edges {
			from, to := places[edge.From], places[edge.To]
			first, last := edge.Points[0], edge.Points[len(edge.Points)-1]
			if from.X > to.X {
				back++
				g.Expect([]Point{first, last}).To(Equal([]Point{{from.X, from.Y + from.H/2}, {to.X + to.W, to.Y + to.H/2}}))
				continue
			}
			g.Expect(from.X+from.W).To(BeNumerically("<", to.X), "%+v", edge)
			g.Expect([]Point{first, last}).To(Equal([]Point{{from.X + from.W, from.Y + from.H/2}, {to.X, to.Y + to.H/2}}))
		}
		if !cyclic {
			g.Expect(back).To(BeZero())
		}
	})
}

func TestOnlyEdgesOfCyclesLeadBack(t *testing.T) {
	eachGraph(t, func(g *WithT, nodes []Node, edges []Edge, _ bool) {
		drawn := Layout(nodes, edges)
		places := byID(drawn)
		after := map[string][]string{}
		for _, edge := range drawn.Edges {
			after[edge.From] = append(after[edge.From], edge.To)
		}
		for _, edge := range drawn.Edges {
			if places[edge.From].X > places[edge.To].X {
				g.Expect(reaches(after, edge.To, edge.From)).To(BeTrue(), "%+v is in no cycle", edge)
			}
		}
	})
}

func TestNoEdgeIsBehindANode(t *testing.T) {
	eachGraph(t, func(g *WithT, nodes []Node, edges []Edge, _ bool) {
		drawn := Layout(nodes, edges)
		for _, edge := range drawn.Edges {
			for n := 1; n < len(edge.Points); n++ {
				a, b := edge.Points[n-1], edge.Points[n]
				for _, node := range drawn.Nodes {
					// The curve between two points stays within the rectangle that they span.
					inside := min(a.X, b.X) < node.X+node.W && max(a.X, b.X) > node.X && min(a.Y, b.Y) < node.Y+node.H && max(a.Y, b.Y) > node.Y
					if inside {
						g.Expect(inside).To(BeFalse(), "%+v and %+v", edge, node)
					}
				}
			}
		}
	})
}

func TestAnyOrderOfTheInputHasTheSameLayout(t *testing.T) {
	eachGraph(t, func(g *WithT, nodes []Node, edges []Edge, _ bool) {
		drawn := Layout(nodes, edges)
		g.Expect(Layout(nodes, edges)).To(Equal(drawn))
		rand.Shuffle(len(nodes), func(a, b int) { nodes[a], nodes[b] = nodes[b], nodes[a] })
		rand.Shuffle(len(edges), func(a, b int) { edges[a], edges[b] = edges[b], edges[a] })
		g.Expect(Layout(nodes, edges)).To(Equal(drawn))
	})
}

func TestAChainIsStraightAndItsLongEdgePassesTheNodes(t *testing.T) {
	g := NewWithT(t)
	nodes := []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	drawn := Layout(nodes, []Edge{{From: "a", To: "b", Kind: DependsOn}, {From: "b", To: "c", Kind: DependsOn}, {From: "a", To: "c", Kind: Source}, {From: "a", To: "b", Kind: Source}, {From: "a", To: "a"}, {From: "a", To: "absent"}})
	g.Expect(drawn.Edges).To(HaveLen(3), "one for each two nodes")
	g.Expect(drawn.Edges[0].Kind).To(Equal(DependsOn), "the kind that matters more")
	g.Expect(drawn.Edges[1].Points).To(HaveLen(4), "two points beside b")
	g.Expect(drawn.Width).To(Equal(3*nodeWidth + 2*between))
}

func TestAGraphIsBoundedAndEmptyOnesAreLists(t *testing.T) {
	g := NewWithT(t)
	empty := Layout(nil, nil)
	g.Expect(empty).To(Equal(Graph{Nodes: []Node{}, Edges: []Edge{}}))
	nodes, edges := random(1, 2*maxNodes, 3*maxEdges, false)
	drawn := Layout(nodes, edges)
	g.Expect(drawn.Nodes).To(HaveLen(maxNodes))
	g.Expect(len(drawn.Edges)).To(BeNumerically("<=", maxEdges))
	g.Expect(drawn.Message).To(HavePrefix("1500 nodes are shown, and 1500 are not"))
	points := 0
	for _, edge := range drawn.Edges {
		points += len(edge.Points)
	}
	g.Expect(points).To(BeNumerically("<=", 2*(maxPoints+maxEdges)))
}

func BenchmarkLayout(b *testing.B) {
	nodes, edges := random(1, 300, 600, true)
	for b.Loop() {
		Layout(nodes, edges)
	}
}

func byID(drawn Graph) map[string]Node {
	places := map[string]Node{}
	for _, node := range drawn.Nodes {
		places[node.ID] = node
	}
	return places
}

func reaches(after map[string][]string, from, to string) bool {
	seen, queue := map[string]bool{from: true}, []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at == to {
			return true
		}
		for _, next := range after[at] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}
