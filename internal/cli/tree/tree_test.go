// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestATreeHasEachResourceOnceWhateverItsParentIs(t *testing.T) {
	g := NewWithT(t)
	var resources []run.Resource
	for _, parents := range []string{"a ", "b a", "self self", "one two", "two three", "three one", "below three", "lost absent", "twice other", "other twice", "twice "} {
		name, parent, _ := strings.Cut(parents, " ")
		resources = append(resources, run.Resource{URN: name, Type: name, Parent: parent})
	}
	shown := map[string]string{}
	var walk func(of *Node)
	walk = func(of *Node) {
		for _, child := range of.Children {
			g.Expect(shown).NotTo(HaveKey(child.URN))
			shown[child.URN] = of.URN
			walk(child)
		}
	}
	walk(Of(&v1.Stack{}, resources))
	g.Expect(shown).To(Equal(map[string]string{"a": "", "b": "a", "self": "", "one": "", "two": "", "three": "", "below": "three", "lost": "", "twice": "", "other": ""}))
}
