// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

// cell is what has a place in a layer: a node, or a point of an edge that passes the layer.
type cell struct {
	// node is the index of the node, -1 for a point of an edge.
	node          int
	layer         int
	before, after []int
	// y is the middle.
	y float64
}

// planned is a layout in the making. Cells are known by their index; those of the nodes come first.
type planned struct {
	graph *Graph
	cells []cell
	// layers have their cells from top to bottom.
	layers [][]int
	// ways are the cells of each edge from left to right. Turned are the edges that lead back in a cycle, from right to left.
	ways   [][]int
	turned []bool
	// single are the nodes without an edge.
	single []int
}

// maxPoints bounds the points of all edges together. An edge that finds no room for its points is a line.
const maxPoints = 20_000

func newPlan(g *Graph) *planned {
	p := &planned{graph: g, cells: make([]cell, len(g.Nodes)), ways: make([][]int, len(g.Edges))}
	index := make(map[string]int, len(g.Nodes))
	for i := range g.Nodes {
		index[g.Nodes[i].ID], p.cells[i].node = i, i
	}
	pairs := make([][2]int, len(g.Edges))
	after := make([][]int, len(g.Nodes))
	for i, edge := range g.Edges {
		pairs[i] = [2]int{index[edge.From], index[edge.To]}
		after[pairs[i][0]] = append(after[pairs[i][0]], i)
	}
	p.turned = leadBack(pairs, after)
	for i, is := range p.turned {
		if is {
			pairs[i][0], pairs[i][1] = pairs[i][1], pairs[i][0]
		}
	}
	p.assign(pairs)
	p.route(pairs)
	return p
}

// leadBack finds the edges without which there is no cycle: those to a node that the search has not left yet. after has the
// edges of each node.
func leadBack(pairs [][2]int, after [][]int) []bool {
	const open, left = 1, 2
	back, state, next := make([]bool, len(pairs)), make([]int, len(after)), make([]int, len(after))
	for root := range after {
		if state[root] != 0 {
			continue
		}
		way := []int{root}
		state[root] = open
		for len(way) > 0 {
			at := way[len(way)-1]
			if next[at] == len(after[at]) {
				state[at], way = left, way[:len(way)-1]
				continue
			}
			edge := after[at][next[at]]
			next[at]++
			switch to := pairs[edge][1]; state[to] {
			case 0:
				state[to] = open
				way = append(way, to)
			case open:
				back[edge] = true
			}
		}
	}
	return back
}

// assign gives each node a layer: the length of the longest way to it. What nothing leads to is right before the first that
// needs it.
func (p *planned) assign(pairs [][2]int) {
	count := len(p.cells)
	after, before := make([][]int, count), make([]int, count)
	for _, pair := range pairs {
		after[pair[0]] = append(after[pair[0]], pair[1])
		before[pair[1]]++
	}
	waiting := append([]int{}, before...)
	var order []int
	for node := range count {
		if before[node] == 0 {
			order = append(order, node)
		}
	}
	for at := 0; at < len(order); at++ {
		from := order[at]
		for _, to := range after[from] {
			p.cells[to].layer = max(p.cells[to].layer, p.cells[from].layer+1)
			if waiting[to]--; waiting[to] == 0 {
				order = append(order, to)
			}
		}
	}
	for node := range count {
		switch {
		case before[node] == 0 && len(after[node]) == 0:
			p.single = append(p.single, node)
		case before[node] == 0:
			nearest := p.cells[after[node][0]].layer
			for _, to := range after[node] {
				nearest = min(nearest, p.cells[to].layer)
			}
			p.cells[node].layer = nearest - 1
		}
	}
}

// route gives each edge a cell in each layer that it passes, and fills the layers.
func (p *planned) route(pairs [][2]int) {
	nodes, single := len(p.cells), make(map[int]bool, len(p.single))
	for _, node := range p.single {
		single[node] = true
	}
	for i, pair := range pairs {
		way := []int{pair[0]}
		if from, to := p.cells[pair[0]].layer, p.cells[pair[1]].layer; len(p.cells)-nodes+to-from <= maxPoints {
			for layer := from + 1; layer < to; layer++ {
				way = append(way, len(p.cells))
				p.cells = append(p.cells, cell{node: -1, layer: layer})
			}
		}
		p.ways[i] = append(way, pair[1])
		for at := 1; at < len(p.ways[i]); at++ {
			a, b := p.ways[i][at-1], p.ways[i][at]
			if p.cells[a].layer+1 == p.cells[b].layer {
				p.cells[a].after, p.cells[b].before = append(p.cells[a].after, b), append(p.cells[b].before, a)
			}
		}
	}
	for at := range p.cells {
		if single[at] {
			continue
		}
		for len(p.layers) <= p.cells[at].layer {
			p.layers = append(p.layers, nil)
		}
		p.layers[p.cells[at].layer] = append(p.layers[p.cells[at].layer], at)
	}
}
