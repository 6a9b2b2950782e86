// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
)

// A plan of Pulumi has every property of every resource that changes.
func TestTheHashesThatAreKeptOfAPlanAreBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ resources, properties int }{
		"few":             {resources: 3, properties: 2},
		"many properties": {resources: 60, properties: 2_000},
		"many resources":  {resources: maxKeptGoals + 5, properties: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			hashOf := func(last string) string {
				var urn, property string
				var all goalHashes
				for n := range test.resources {
					urn = fmt.Sprintf("urn:%d", n)
					sums := map[string]string{"name": "sum of the name"}
					for m := range test.properties {
						property = fmt.Sprintf("p%d", m)
						sums[property] = "sum of the same"
					}
					if n == test.resources-1 {
						sums[property] = last
					}
					all.add(valueReader{key: []byte("key")}, urn, sums)
				}
				kept := 0
				for _, one := range all.byURN {
					kept += len(one.byName)
				}
				g.Expect(kept).To(BeNumerically("<=", maxKeptGoals))
				g.Expect(len(all.byURN)).To(BeNumerically("<=", maxKeptGoals))
				return all.of(urn).of(property)
			}
			first := hashOf("one")
			g.Expect(first).NotTo(BeEmpty())
			g.Expect(hashOf("one")).To(Equal(first))
			g.Expect(hashOf("two")).NotTo(Equal(first), "it is another plan")
		})
	}
}
