// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func newTree(s *session) *cobra.Command {
	var output string
	cmd := newStackCommand(s, "Show the resources of a Stack as a tree",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.tree(ctx, api, stack, output)
		})
	cmd.Example = `  # Show the resources of a Stack
  flux pulumi tree stack network

  # Print them as JSON
  flux pulumi tree stack network -o json`
	addOutputFlag(cmd, cmd.Flags(), &output, "print the tree as json or yaml")
	return newGroup("tree", "Show the resources of Stacks", cmd)
}

func (s *session) tree(ctx context.Context, api client.Reader, stack *v1.Stack, output string) error {
	recorded := stack.Status.Inventory
	if recorded == nil || recorded.ConfigMap == "" {
		if recorded != nil && recorded.Message != "" {
			return fmt.Errorf("%s", recorded.Message)
		}
		return fmt.Errorf("the resources of Stack %s are not known yet: the next run records them, start one with `%s`", stack.Name, reconcileOf(stack))
	}
	data, err := ownedData(ctx, api, stack, recorded.ConfigMap, inventory.Key, recorded.Digest)
	switch {
	case errors.Is(err, errGone):
		return fmt.Errorf("%w: the next run creates it again, start one with `%s`", err, reconcileOf(stack))
	case errors.Is(err, errOther):
		return fmt.Errorf("%w, or the controller is writing it right now: try again; if that does not help, delete it and start a run with `%s`", err, reconcileOf(stack))
	case err != nil:
		return err
	}
	list, err := inventory.Decode(data)
	if err != nil {
		return err
	}
	if recorded.Message != "" {
		s.Warningf("%s", recorded.Message)
	}
	root := treeOf(stack, list.Resources)
	if output != "" {
		return printValue(s.Out, output, root)
	}
	var text strings.Builder
	text.WriteString(root.line(s) + "\n")
	root.print(s, &text, "")
	_, err = fmt.Fprint(s.Out, text.String())
	return err
}

// node is a resource with its children.
type node struct {
	Resource  string  `json:"resource"`
	URN       string  `json:"urn,omitempty"`
	ID        string  `json:"id,omitempty"`
	Protected bool    `json:"protect,omitempty"`
	External  bool    `json:"external,omitempty"`
	Children  []*node `json:"resources,omitempty"`
}

// treeOf puts each resource below its parent, or below the Stack if the parent is
// missing.
func treeOf(stack *v1.Stack, resources []run.Resource) *node {
	root := &node{Resource: fmt.Sprintf("Stack/%s/%s", stack.Namespace, stack.Name)}
	byURN, parents := make(map[string]*node, len(resources)), make(map[string]string, len(resources))
	resources = slices.DeleteFunc(slices.Clone(resources), func(one run.Resource) bool {
		if byURN[one.URN] != nil {
			return true // Pulumi never writes a resource twice
		}
		byURN[one.URN] = &node{Resource: one.Type + " " + inventory.Name(one.URN), URN: one.URN, ID: one.ID, Protected: one.Protected, External: one.External}
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

func (n *node) line(s *session) string {
	line := table.Visible(n.Resource)
	if n.ID != "" {
		line += " " + s.paint.Faint(table.Visible(n.ID))
	}
	if n.Protected {
		line += " (protected)"
	}
	if n.External {
		line += " (read only)"
	}
	return line
}

func (n *node) print(s *session, text *strings.Builder, indent string) {
	for i, child := range n.Children {
		branch, below := "├── ", "│   "
		if i == len(n.Children)-1 {
			branch, below = "└── ", "    "
		}
		text.WriteString(indent + branch + child.line(s) + "\n")
		child.print(s, text, indent+below)
	}
}
