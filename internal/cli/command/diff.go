// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// diffName is the command whose exit codes are those of flux diff.
const diffName = "diff"

// markdownOutput is the format for comments at a git forge.
const markdownOutput = "markdown"

// maxMarkdown bounds the output in Markdown: a comment at a git forge may have about as much.
const maxMarkdown = 60_000

func newDiff(s *session) *cobra.Command {
	var output string
	cmd := newStackCommand(s, "Show the plan of a Stack that waits for an approval",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.diff(ctx, api, stack, output)
		})
	cmd.Long = `Shows what a Stack with spec.approval proposes to do to each resource, and to which digest an approval has to refer.
You need permission to read ConfigMaps in the namespace. The exit code is 0 if nothing is proposed, 1 if something is, and
above 1 for an error.`
	cmd.Example = `  # Show what waits for an approval
  flux pulumi diff stack network

  # Write it for a comment
  flux pulumi diff stack network -o markdown`
	addOutputFlag(cmd, cmd.Flags(), &output, "print the plan as json, yaml or markdown", markdownOutput)
	return newGroup(diffName, "Show what waits for an approval", cmd)
}

func (s *session) diff(ctx context.Context, api client.Reader, stack *v1.Stack, output string) error {
	of := words.ShownPlan(stack)
	if of == nil {
		s.Successf("%v", words.ErrNothingProposed(stack))
		return nil
	}
	read, err := readPlan(ctx, api, stack, of)
	if err != nil {
		return err
	}
	switch output {
	case "":
		err = s.showProposal(stack, of, read)
	case markdownOutput:
		_, err = fmt.Fprint(s.Out, plan.Markdown(read, maxMarkdown))
	default:
		err = printValue(s.Out, output, read)
	}
	switch {
	case err != nil:
		return err
	case of.State == v1.PlanPreviewed && read.IsEmpty():
		s.Successf("no changes at revision %s", of.Revision)
		return nil
	}
	return &exitError{Code: exitFailed, Err: errors.New(words.Waits(stack, of, read))}
}
