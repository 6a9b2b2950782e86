// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"slices"
)

// sweeps is how often the layers are ordered, from left to right and back. More of them change little.
const sweeps = 12

// order puts the cells of each layer in an order with few crossings: each to the middle of those that it is joined to, in one
// direction after the other. The best order is kept.
func (p *planned) order() {
	best, fewest := p.copied(), p.crossings()
	for sweep := 0; sweep < sweeps && fewest > 0; sweep++ {
		p.sweep(sweep%2 == 0)
		if now := p.crossings(); now < fewest {
			best, fewest = p.copied(), now
		}
	}
	p.layers = best
}

func (p *planned) copied() [][]int {
	layers := make([][]int, len(p.layers))
	for i := range p.layers {
		layers[i] = slices.Clone(p.layers[i])
	}
	return layers
}

// positions returns the place of each cell in its layer.
func (p *planned) positions() []int {
	at := make([]int, len(p.cells))
	for _, layer := range p.layers {
		for i, one := range layer {
			at[one] = i
		}
	}
	return at
}

func (p *planned) sweep(rightwards bool) {
	at := p.positions()
	middle := make([]float64, len(p.cells))
	for i := range p.layers {
		layer := p.layers[i]
		if !rightwards {
			layer = p.layers[len(p.layers)-1-i]
		}
		for _, one := range layer {
			joined := p.cells[one].before
			if !rightwards {
				joined = p.cells[one].after
			}
			middle[one] = float64(at[one])
			if len(joined) > 0 {
				sum := 0
				for _, other := range joined {
					sum += at[other]
				}
				middle[one] = float64(sum) / float64(len(joined))
			}
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(middle[a], middle[b]) })
		for n, one := range layer {
			at[one] = n
		}
	}
}

// crossings counts how often edges cross between two layers.
func (p *planned) crossings() int {
	at, count := p.positions(), 0
	for i := 1; i < len(p.layers); i++ {
		// seen counts, as a Fenwick tree, the ends of the edges from above.
		seen, total := make([]int, len(p.layers[i])+1), 0
		for _, from := range p.layers[i-1] {
			for _, to := range p.cells[from].after {
				above := 0
				for n := at[to] + 1; n > 0; n -= n & -n {
					above += seen[n]
				}
				count += total - above
			}
			for _, to := range p.cells[from].after {
				total++
				for n := at[to] + 1; n < len(seen); n += n & -n {
					seen[n]++
				}
			}
		}
	}
	return count
}
