// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import "math"

const (
	nodeWidth, nodeHeight = 210, 52
	// between is the room between two layers, and beside the one between two nodes of a layer.
	between, beside = 80, 22
	// pointHeight is the room that an edge takes in a layer that it passes.
	pointHeight = 4
	// rounds is how often the cells are moved towards those that they are joined to.
	rounds = 8
	// straight is how much more it counts that an edge is straight than that a node is in the middle.
	straight = 4
)

// place gives all nodes and edges of the graph their places.
func (p *planned) place() {
	for i := range p.graph.Nodes {
		p.graph.Nodes[i].W, p.graph.Nodes[i].H = nodeWidth, nodeHeight
	}
	p.order()
	for _, layer := range p.layers {
		p.spread(layer, func(int) float64 { return 0 })
	}
	for round := range rounds {
		p.settle(round%2 == 0)
	}
	p.write()
	p.placeSingle()
}

// settle moves the cells of each layer to the middle of those in the layer before, or after.
func (p *planned) settle(rightwards bool) {
	for i := range p.layers {
		layer := p.layers[i]
		if !rightwards {
			layer = p.layers[len(p.layers)-1-i]
		}
		p.spread(layer, func(one int) float64 {
			joined := p.cells[one].before
			if !rightwards {
				joined = p.cells[one].after
			}
			if len(joined) == 0 {
				return p.cells[one].y
			}
			sum := 0.0
			for _, other := range joined {
				sum += p.cells[other].y
			}
			return sum / float64(len(joined))
		})
	}
}

// block is a number of cells in a row that touch.
type block struct {
	sum, weight float64
	cells       int
}

// spread moves the cells of a layer as near to where they are wanted as their order and their heights allow, by the least
// squares: cells that would overlap become a block, which is where its cells want to be on average.
func (p *planned) spread(layer []int, wanted func(one int) float64) {
	offsets := make([]float64, len(layer))
	var blocks []block
	for i, one := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + (p.height(layer[i-1])+p.height(one))/2 + beside
		}
		weight := 1.0
		if p.cells[one].node < 0 {
			weight = straight
		}
		blocks = append(blocks, block{weight * (wanted(one) - offsets[i]), weight, 1})
		for n := len(blocks) - 1; n > 0 && blocks[n-1].sum/blocks[n-1].weight >= blocks[n].sum/blocks[n].weight; n-- {
			blocks[n-1] = block{blocks[n-1].sum + blocks[n].sum, blocks[n-1].weight + blocks[n].weight, blocks[n-1].cells + blocks[n].cells}
			blocks = blocks[:n]
		}
	}
	i := 0
	for _, one := range blocks {
		for range one.cells {
			p.cells[layer[i]].y = one.sum/one.weight + offsets[i]
			i++
		}
	}
}

func (p *planned) height(one int) float64 {
	if p.cells[one].node < 0 {
		return pointHeight
	}
	return nodeHeight
}

// write rounds the places, from the upper left corner on, and gives the edges their points.
func (p *planned) write() {
	top := math.Inf(1)
	for _, layer := range p.layers {
		for _, one := range layer {
			top = min(top, p.cells[one].y-p.height(one)/2)
		}
	}
	y := func(one int) int { return int(math.Round(p.cells[one].y - top)) }
	for _, layer := range p.layers {
		for _, one := range layer {
			p.graph.Height = max(p.graph.Height, y(one)+int(p.height(one))/2)
			if node := p.cells[one].node; node >= 0 {
				p.graph.Nodes[node].X, p.graph.Nodes[node].Y = left(p.cells[one].layer), y(one)-nodeHeight/2
			}
		}
	}
	if len(p.layers) > 0 {
		p.graph.Width = left(len(p.layers)-1) + nodeWidth
	}
	for i, way := range p.ways {
		var points []Point
		for n, one := range way {
			x := left(p.cells[one].layer)
			if n > 0 {
				points = append(points, Point{x, y(one)})
			}
			if n < len(way)-1 {
				points = append(points, Point{x + nodeWidth, y(one)})
			}
		}
		if p.turned[i] {
			for a, b := 0, len(points)-1; a < b; a, b = a+1, b-1 {
				points[a], points[b] = points[b], points[a]
			}
		}
		p.graph.Edges[i].Points = points
	}
}

func left(layer int) int { return layer * (nodeWidth + between) }

// placeSingle puts the nodes without an edge below all others, in rows that make the graph neither too wide nor too high.
func (p *planned) placeSingle() {
	if len(p.single) == 0 {
		return
	}
	const column, row = nodeWidth + between/2, nodeHeight + beside
	columns := max(1, int(math.Ceil(math.Sqrt(float64(len(p.single))*1.6*row/column))), min(len(p.single), (p.graph.Width+between/2)/column))
	top := 0
	if len(p.layers) > 0 {
		top = p.graph.Height + 2*beside
	}
	for i, node := range p.single {
		one := &p.graph.Nodes[node]
		one.X, one.Y = i%columns*column, top+i/columns*row
		p.graph.Width, p.graph.Height = max(p.graph.Width, one.X+one.W), max(p.graph.Height, one.Y+one.H)
	}
}
