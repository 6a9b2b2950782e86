// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

func newHistory(s *session) *cobra.Command {
	output, diff := "", false
	cmd := newStackCommand(s, "Show the last runs of a Stack",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.history(ctx, api, stack, output, diff)
		})
	cmd.Long = `Shows the last runs of a Stack, newest first. Consecutive runs with the same inputs and the same outcome share a line.

With --diff, it shows what the runs have changed, property by property, with secrets hidden. You need permission to read
ConfigMaps in the namespace.`
	cmd.Example = `  # Show the last runs of a Stack
  flux pulumi history stack network -n apps

  # Show what they have changed
  flux pulumi history stack network --diff

  # Print them as JSON
  flux pulumi history stack network -o json`
	cmd.Flags().BoolVar(&diff, "diff", false, "show what the runs have changed")
	addOutputFlag(cmd, cmd.Flags(), &output, "print the history as json or yaml, or with --diff as markdown", markdownOutput)
	return newGroup("history", "Show the history of runs", cmd)
}

func (s *session) history(ctx context.Context, api client.Reader, stack *v1.Stack, output string, diff bool) error {
	if output == markdownOutput && !diff {
		return errors.New("-o markdown needs --diff")
	}
	if len(stack.Status.History) == 0 {
		return fmt.Errorf("no run of Stack %s has ended yet", stack.Name)
	}
	switch {
	case diff:
		return s.historyDiff(ctx, api, stack, output)
	case output != "":
		return printValue(s.Out, output, stack.Status.History)
	}
	s.historyTable(stack)
	return nil
}

func (s *session) historyTable(stack *v1.Stack) {
	var lines [][]string
	for _, one := range stack.Status.History {
		lines = append(lines, []string{
			table.Shorten(one.Metadata["revision"]), one.Metadata["operation"], one.LastReconciledStatus,
			s.ago(one.LastReconciled.Time) + " ago",
			one.LastReconciledDuration.Round(100 * time.Millisecond).String(), strconv.FormatInt(one.TotalReconciliations, 10), one.Metadata["changes"],
		})
	}
	table.Print(s.Out, []string{"REVISION", "OPERATION", "RESULT", "LAST", "DURATION", "RUNS", "CHANGES"}, lines)
}
