// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The kinds of edges. Of several between the same nodes, the first of these is drawn.
const (
	DependsOn     = "dependsOn"
	Prerequisites = "prerequisites"
	Outputs       = "outputs"
	Source        = "source"
	Parent        = "parent"
)

// Node is a box. Its place is that of its upper left corner.
type Node struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
	// State is that of internal/cli/ui/view, "" for what has none.
	State string `json:"state,omitempty"`
	// Stack is the namespace and name of a Stack, "" for anything else.
	Stack string `json:"stack,omitempty"`
	X     int    `json:"x"`
	Y     int    `json:"y"`
	W     int    `json:"w"`
	H     int    `json:"h"`
}

// Edge leads from what comes first to what needs it, through its points.
type Edge struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Kind   string  `json:"kind"`
	Points []Point `json:"points"`
}

// Point is a place in the graph.
type Point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

// Graph is a graph with the place of everything in it.
type Graph struct {
	Nodes   []Node `json:"nodes"`
	Edges   []Edge `json:"edges"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Message string `json:"message,omitempty"`
}

const (
	// maxNodes and maxEdges bound a graph, of which nobody can read more.
	maxNodes = 1500
	maxEdges = 6000
)

// Layout returns the graph of the nodes and edges with their places. It leaves out edges that lead to no other node, all but
// one of those between the same nodes, and what is too much: the message then says so.
func Layout(nodes []Node, edges []Edge) Graph {
	nodes, leftOut := distinctNodes(nodes)
	edges, leftOutEdges := distinctEdges(edges, nodes)
	g := Graph{Nodes: nodes, Edges: edges}
	switch {
	case leftOut > 0:
		g.Message = fmt.Sprintf("%d nodes are shown, and %d are not: open a Stack, and show it in the graph", len(nodes), leftOut)
	case leftOutEdges > 0:
		g.Message = fmt.Sprintf("%d dependencies are shown, and %d are not: open a Stack, and show it in the graph", len(edges), leftOutEdges)
	}
	newPlan(&g).place()
	return g
}

// distinctNodes returns the nodes in order, each once, Stacks first. It counts those that are too many.
func distinctNodes(nodes []Node) ([]Node, int) {
	sorted := slices.Clone(nodes)
	slices.SortFunc(sorted, func(a, b Node) int {
		return cmp.Or(cmp.Compare(sorts(a), sorts(b)), strings.Compare(a.ID, b.ID), strings.Compare(a.Label, b.Label), strings.Compare(a.State, b.State))
	})
	seen := make(map[string]bool, len(sorted))
	sorted = slices.DeleteFunc(sorted, func(node Node) bool {
		again := seen[node.ID]
		seen[node.ID] = true
		return again
	})
	kept := min(len(sorted), maxNodes)
	return append([]Node{}, sorted[:kept]...), len(sorted) - kept
}

func sorts(node Node) int {
	if node.Stack != "" {
		return 0
	}
	return 1
}

// distinctEdges returns the edges between the nodes in order, one for each two nodes.
func distinctEdges(edges []Edge, nodes []Node) ([]Edge, int) {
	known := make(map[string]bool, len(nodes))
	for i := range nodes {
		known[nodes[i].ID] = true
	}
	sorted := slices.DeleteFunc(slices.Clone(edges), func(edge Edge) bool { return edge.From == edge.To || !known[edge.From] || !known[edge.To] })
	slices.SortFunc(sorted, func(a, b Edge) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To), cmp.Compare(precedence(a.Kind), precedence(b.Kind)), strings.Compare(a.Kind, b.Kind))
	})
	sorted = slices.CompactFunc(sorted, func(a, b Edge) bool { return a.From == b.From && a.To == b.To })
	kept := min(len(sorted), maxEdges)
	return append([]Edge{}, sorted[:kept]...), len(sorted) - kept
}

func precedence(kind string) int {
	order := []string{DependsOn, Prerequisites, Outputs, Source, Parent}
	if at := slices.Index(order, kind); at >= 0 {
		return at
	}
	return len(order)
}
