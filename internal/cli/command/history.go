// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

func newHistory(s *session) *cobra.Command {
	var output string
	cmd := newStackCommand(s, "Show the last runs of a Stack",
		func(_ context.Context, _ client.WithWatch, stack *v1.Stack) error { return s.history(stack, output) })
	cmd.Long = `Shows the last runs of a Stack, newest first. Consecutive runs with the same inputs and the same outcome share a line.`
	cmd.Example = `  # Show the last runs of a Stack
  flux pulumi history stack network -n apps

  # Print them as JSON
  flux pulumi history stack network -o json`
	addOutputFlag(cmd, cmd.Flags(), &output, "print the history as json or yaml")
	return newGroup("history", "Show the history of runs", cmd)
}

func (s *session) history(stack *v1.Stack, output string) error {
	if output != "" {
		if err := checkOutput(output, "json", "yaml"); err != nil {
			return err
		}
	}
	if len(stack.Status.History) == 0 {
		return fmt.Errorf("no run of Stack %s has ended yet", stack.Name)
	}
	if output != "" {
		return printValue(s.Out, output, stack.Status.History)
	}
	var lines [][]string
	for _, one := range stack.Status.History {
		lines = append(lines, []string{
			table.Shorten(one.Metadata["revision"]), one.Metadata["operation"], one.LastReconciledStatus,
			s.ago(one.LastReconciled.Time) + " ago",
			one.LastReconciledDuration.Round(100 * time.Millisecond).String(), strconv.FormatInt(one.TotalReconciliations, 10), one.Metadata["changes"],
		})
	}
	table.Print(s.Out, []string{"REVISION", "OPERATION", "RESULT", "LAST", "DURATION", "RUNS", "CHANGES"}, lines)
	return nil
}
