// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

// historyOptions are the flags of the command history.
type historyOptions struct {
	output, log string
	diff        bool
}

func newHistory(s *session) *cobra.Command {
	options := historyOptions{}
	cmd := &cobra.Command{
		Use: "stack [name]", Aliases: []string{"stacks"}, Short: "Show the last runs of a Stack",
		ValidArgsFunction: s.completeName(cluster.Stack().GroupVersionKind),
		RunE: s.onOne(cluster.Stack(), func(ctx context.Context, api client.WithWatch, of target) error {
			return s.history(ctx, api, of.ObjectKey, options)
		}),
	}
	cmd.Long = `Shows the recorded runs of a Stack, newest first. Consecutive runs with the same inputs and the same outcome that
changed nothing share a line. You need permission to read ConfigMaps in the namespace: without it, the command shows the
last results in the status.

With --diff, it shows what the runs have changed, property by property, with secrets hidden, and with --log the end of the log
of a run. It also shows the runs of a deleted Stack whose history was retained.`
	cmd.Example = `  # Show the last runs of a Stack
  flux pulumi history stack network -n apps

  # Show what they have changed
  flux pulumi history stack network --diff

  # Show the end of the log of a run
  flux pulumi history stack network --log 0d5c2a1e-6f0b-4c39-9a55-3f4f2f0f8f6e

  # Print them as JSON
  flux pulumi history stack network -o json`
	cmd.Flags().BoolVar(&options.diff, "diff", false, "show what the runs have changed")
	cmd.Flags().StringVar(&options.log, "log", "", "show the end of the log of the run with this ID, which --diff and -o json show, or the beginning of the ID")
	cmd.MarkFlagsMutuallyExclusive("diff", "log")
	addOutputFlag(cmd, cmd.Flags(), &options.output, "print the history as json or yaml, or with --diff as markdown", markdownOutput)
	return newGroup("history", "Show the history of runs", cmd)
}

func (s *session) history(ctx context.Context, api client.Reader, key client.ObjectKey, options historyOptions) error {
	if options.output == markdownOutput && !options.diff {
		return errors.New("-o markdown needs --diff")
	}
	kept, err := s.readRecords(ctx, api, key, options)
	if err != nil {
		return err
	}
	if kept.Gone {
		s.Warningf("Stack %s does not exist any more: these are the runs that were retained", key.Name)
	}
	switch {
	case options.log != "":
		return s.historyLog(kept, options)
	case len(kept.Entries) == 0:
		return fmt.Errorf("no run of Stack %s has ended yet", key.Name)
	case options.diff:
		return s.historyDiff(kept, options.output)
	case options.output != "":
		return printValue(s.Out, options.output, kept.Entries)
	}
	s.historyTable(kept.Entries)
	return nil
}

// readRecords reads the recorded runs. If the person may not read ConfigMaps, or none is the record, the status has the
// last results.
func (s *session) readRecords(ctx context.Context, api client.Reader, key client.ObjectKey, options historyOptions) (*records.Records, error) {
	kept, err := records.Read(ctx, api, key.Namespace, key.Name)
	if err == nil || options.diff || options.log != "" {
		return kept, cluster.Explain(err)
	}
	stack := &v1.Stack{}
	if readErr := api.Get(ctx, key, stack); readErr != nil {
		return nil, cluster.Explain(readErr)
	}
	if apierrors.IsForbidden(err) {
		s.Warningf("these are the last results in the status: you need permission to read ConfigMaps to see more")
	} else {
		s.Warningf("these are the last results in the status: %v", err)
	}
	return &records.Records{Entries: stack.Status.History}, nil
}

// historyLog prints the end of the log of a run.
func (s *session) historyLog(kept *records.Records, options historyOptions) error {
	id, err := kept.Find(options.log)
	if err != nil {
		return err
	}
	log, err := kept.Log(id)
	if err != nil {
		return err
	}
	if options.output != "" {
		return printValue(s.Out, options.output, log)
	}
	_, err = fmt.Fprint(s.Out, words.Log(log))
	return err
}

func (s *session) historyTable(entries meta.History) {
	var lines [][]string
	for _, one := range entries {
		lines = append(lines, []string{
			table.Shorten(one.Metadata["revision"]), one.Metadata["operation"], one.LastReconciledStatus,
			s.ago(one.LastReconciled.Time) + " ago",
			one.LastReconciledDuration.Round(100 * time.Millisecond).String(), strconv.FormatInt(one.TotalReconciliations, 10), one.Metadata["changes"],
		})
	}
	table.Print(s.Out, []string{"REVISION", "OPERATION", "RESULT", "LAST", "DURATION", "RUNS", "CHANGES"}, lines)
}
