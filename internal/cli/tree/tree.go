// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package tree arranges the resources of a stack as a tree. It must not read them, nor know how they are shown.
package tree

import (
	"fmt"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Node is a resource with its children.
type Node struct {
	Resource  string  `json:"resource"`
	URN       string  `json:"urn,omitempty"`
	ID        string  `json:"id,omitempty"`
	Protected bool    `json:"protect,omitempty"`
	External  bool    `json:"external,omitempty"`
	Children  []*Node `json:"resources,omitempty"`
}

// Of puts each resource below its parent, or below the Stack if the parent is
// missing.
func Of(stack *v1.Stack, resources []run.Resource) *Node {
	root := &Node{Resource: fmt.Sprintf("Stack/%s/%s", stack.Namespace, stack.Name)}
	byURN, parents := make(map[string]*Node, len(resources)), make(map[string]string, len(resources))
	resources = slices.DeleteFunc(slices.Clone(resources), func(one run.Resource) bool {
		if byURN[one.URN] != nil {
			return true // Pulumi never writes a resource twice
		}
		byURN[one.URN] = &Node{Resource: one.Type + " " + plan.ResourceName(one.URN), URN: one.URN, ID: one.ID, Protected: one.Protected, External: one.External}
		parents[one.URN] = one.Parent
		return false
	})
	for _, one := range resources {
		parent, ok := byURN[one.Parent]
		if !ok || isOwnAncestor(one.URN, parents) {
			parent = root
		}
		parent.Children = append(parent.Children, byURN[one.URN])
	}
	return root
}

// isOwnAncestor reports whether a resource is among its own ancestors, which Pulumi never
// writes.
func isOwnAncestor(urn string, parents map[string]string) bool {
	parent := parents[urn]
	for range parents { // bounded: there may be a cycle further up
		if parent == urn || parent == "" {
			return parent == urn
		}
		parent = parents[parent]
	}
	return false
}
