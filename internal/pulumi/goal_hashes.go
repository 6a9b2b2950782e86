// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"slices"
)

// maxKeptGoals bounds the properties of a plan whose hashes are kept one by one, and the
// resources for which any are kept.
const maxKeptGoals = 100_000

// goalHashes are keyed hashes of the properties of resources. Beyond the bounds, all properties
// of a resource have one hash, and then all resources that are left: if any of them changes, it
// is another plan all the same. The zero value has none.
type goalHashes struct {
	byURN map[string]resourceHashes
	kept  int
	rest  string
}

// resourceHashes are the hashes of the properties of a resource by name, or one hash for all of them.
type resourceHashes struct {
	byName map[string]string
	all    string
}

// of returns the hash for the property, "" if it does not change.
func (h resourceHashes) of(name string) string {
	if h.all != "" {
		return h.all
	}
	return h.byName[name]
}

// hashesOf keeps at most so many.
func (r valueReader) hashesOf(sums map[string]string, most int) resourceHashes {
	if len(sums) <= most {
		return resourceHashes{byName: sums}
	}
	return resourceHashes{all: r.together(sums)}
}

func (r valueReader) together(sums map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		texts = append(texts, name, sums[name])
	}
	return r.sum(texts...)
}

func (g *goalHashes) add(read valueReader, urn string, sums map[string]string) {
	switch {
	case len(sums) == 0:
	case len(g.byURN) >= maxKeptGoals:
		g.rest = read.sum(g.rest, urn, read.together(sums))
	default:
		if g.byURN == nil {
			g.byURN = map[string]resourceHashes{}
		}
		one := read.hashesOf(sums, maxKeptGoals-g.kept)
		g.byURN[urn], g.kept = one, g.kept+len(one.byName)
	}
}

// of returns the hashes of a resource.
func (g goalHashes) of(urn string) resourceHashes {
	if one, ok := g.byURN[urn]; ok {
		return one
	}
	return resourceHashes{all: g.rest}
}
