// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Missing is the kind of a Stack that another one names, and that is not among those that the person may read.
const Missing = "Missing"

// maxLabel bounds a label.
const maxLabel = 300

// OfStacks returns the graph of Stacks: which come first, which outputs of one are inputs of another, and from where their
// programs come. With the focus on one, by its namespace and name, it has what that needs and what needs it, directly or not.
func OfStacks(stacks []*v1.Stack, focus string, state func(*v1.Stack) string) Graph {
	nodes, edges := ofStacks(stacks, state)
	if focus == "" {
		return Layout(nodes, edges)
	}
	near := neighbourhood(stackID(focus), edges)
	var kept []Node
	known := false
	for _, node := range nodes {
		if near[node.ID] {
			kept = append(kept, node)
		}
		known = known || node.ID == stackID(focus)
	}
	if !known {
		return Graph{Nodes: []Node{}, Edges: []Edge{}, Message: fmt.Sprintf("There is no Stack %s that you may read", bounded.Line(focus, maxLabel))}
	}
	return Layout(kept, edges)
}

func ofStacks(stacks []*v1.Stack, state func(*v1.Stack) string) (nodes []Node, edges []Edge) {
	written, known := map[string]string{}, map[string]bool{}
	for _, stack := range stacks {
		key := stack.Namespace + "/" + stack.Name
		known[key] = true
		for _, secret := range writes(stack) {
			// Only one can own a Secret. Of two that want it, each is drawn in the same way each time.
			if before, taken := written[secret]; !taken || key < before {
				written[secret] = key
			}
		}
	}
	for _, stack := range stacks {
		key := stack.Namespace + "/" + stack.Name
		nodes = append(nodes, Node{ID: stackID(key), Kind: v1.StackKind, Label: key, State: state(stack), Stack: key})
		source := bounded.Line(rows.Source(stack), maxLabel)
		kind, label, _ := strings.Cut(source, "/")
		nodes = append(nodes, Node{ID: source, Kind: kind, Label: label})
		edges = append(edges, Edge{From: source, To: stackID(key), Kind: Source})
		for n, on := range dependency.Edges(stack, false) {
			if !known[on.String()] {
				nodes = append(nodes, Node{ID: stackID(on.String()), Kind: Missing, Label: bounded.Line(on.String(), maxLabel)})
			}
			edges = append(edges, Edge{From: stackID(on.String()), To: stackID(key), Kind: kindOf(stack, n)})
		}
		for _, secret := range reads(stack) {
			if from, known := written[secret]; known {
				edges = append(edges, Edge{From: stackID(from), To: stackID(key), Kind: Outputs})
			}
		}
	}
	return nodes, edges
}

// kindOf returns the kind of the n-th edge of a Stack. Those of dependsOn come first.
func kindOf(stack *v1.Stack, n int) string {
	seen := map[dependency.Key]bool{}
	for _, on := range stack.Spec.DependsOn {
		seen[dependency.KeyOf(stack, on)] = true
	}
	if n < len(seen) {
		return DependsOn
	}
	return Prerequisites
}

func stackID(key string) string { return v1.StackKind + "/" + key }

// writes returns the Secrets that a Stack writes its outputs to, by namespace and name.
func writes(stack *v1.Stack) (secrets []string) {
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		secrets = append(secrets, stack.Namespace+"/"+to.Name)
	}
	if recorded := stack.Status.OutputsSecret; recorded != nil {
		secrets = append(secrets, stack.Namespace+"/"+recorded.Name)
	}
	return secrets
}

// reads returns the Secrets that a Stack has its environment and its config from.
func reads(stack *v1.Stack) (secrets []string) {
	for _, refs := range []map[string]v1.ResourceRef{stack.Spec.EnvRefs, stack.Spec.SecretsRef} {
		for _, ref := range refs {
			if ref.Secret == nil {
				continue
			}
			namespace := ref.Secret.Namespace
			if namespace == "" {
				namespace = stack.Namespace
			}
			secrets = append(secrets, namespace+"/"+ref.Secret.Name)
		}
	}
	for _, name := range stack.Spec.EnvSecrets {
		secrets = append(secrets, stack.Namespace+"/"+name)
	}
	return secrets
}

// neighbourhood returns a node with all that lead to it, and all that it leads to.
func neighbourhood(id string, edges []Edge) map[string]bool {
	near := map[string]bool{id: true}
	before, after := map[string][]string{}, map[string][]string{}
	for _, edge := range edges {
		before[edge.To], after[edge.From] = append(before[edge.To], edge.From), append(after[edge.From], edge.To)
	}
	for _, next := range []map[string][]string{before, after} {
		seen, queue := map[string]bool{id: true}, []string{id}
		for len(queue) > 0 {
			for _, other := range next[queue[0]] {
				if !seen[other] {
					seen[other], near[other] = true, true
					queue = append(queue, other)
				}
			}
			queue = queue[1:]
		}
	}
	return near
}

// OfResources returns the graph of the resources of a Stack: which is the parent of which.
func OfResources(resources []run.Resource) Graph {
	nodes, edges := make([]Node, 0, len(resources)), make([]Edge, 0, len(resources))
	for _, one := range resources {
		nodes = append(nodes, Node{ID: one.URN, Kind: bounded.Line(one.Type, maxLabel), Label: bounded.Line(plan.ResourceName(one.URN), maxLabel)})
		if one.Parent != "" {
			edges = append(edges, Edge{From: one.Parent, To: one.URN, Kind: Parent})
		}
	}
	return Layout(nodes, edges)
}
