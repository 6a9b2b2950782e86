// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/tree"
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
	list, err := readResources(ctx, api, stack)
	if err != nil {
		return err
	}
	if recorded := stack.Status.Inventory; recorded.Message != "" {
		s.Warningf("%s", recorded.Message)
	}
	root := tree.Of(stack, list)
	if output != "" {
		return printValue(s.Out, output, root)
	}
	var text strings.Builder
	text.WriteString(s.treeLine(root) + "\n")
	s.printTree(&text, root, "")
	_, err = fmt.Fprint(s.Out, text.String())
	return err
}

// readResources reads the resources that the last run has recorded.
func readResources(ctx context.Context, api client.Reader, stack *v1.Stack) ([]run.Resource, error) {
	recorded := stack.Status.Inventory
	if recorded == nil || recorded.ConfigMap == "" {
		if recorded != nil && recorded.Message != "" {
			return nil, fmt.Errorf("%s", recorded.Message)
		}
		return nil, fmt.Errorf("the resources of Stack %s are not known yet: the next run records them, start one with `%s`", stack.Name, reconcileOf(stack))
	}
	data, err := ownedData(ctx, api, stack, recorded.ConfigMap, inventory.Key, recorded.Digest)
	switch {
	case errors.Is(err, errGone):
		return nil, fmt.Errorf("%w: the next run creates it again, start one with `%s`", err, reconcileOf(stack))
	case errors.Is(err, errOther):
		return nil, fmt.Errorf("%w, or the controller is writing it right now: try again; if that does not help, delete it and start a run with `%s`", err, reconcileOf(stack))
	case err != nil:
		return nil, err
	}
	list, err := inventory.Decode(data)
	if err != nil {
		return nil, err
	}
	return list.Resources, nil
}

// treeLine is a resource in a line.
func (s *session) treeLine(n *tree.Node) string {
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

func (s *session) printTree(text *strings.Builder, n *tree.Node, indent string) {
	for i, child := range n.Children {
		branch, below := "├── ", "│   "
		if i == len(n.Children)-1 {
			branch, below = "└── ", "    "
		}
		text.WriteString(indent + branch + s.treeLine(child) + "\n")
		s.printTree(text, child, indent+below)
	}
}
