// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

func newDebug(s *session) *cobra.Command {
	flags := controllerFlags{}
	cmd := newStackCommand(s, "Show the inputs of a run of a Stack, and why a run is due or not",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.debug(ctx, api, stack, flags.forController())
		})
	cmd.Long = `Shows the config and the environment that a run of a Stack would get and where each value comes from, with secrets hidden.
It also shows what the controller decides next and what each of its rules found. The command reads the cluster with your
permissions and lists what you are not allowed to read. If the controller has flags of the same name, set them here too:
the inputs depend on them.`
	cmd.Example = `  # Show why a run is due, and with which inputs
  flux pulumi debug stack network

  # The controller runs with --runner=job
  flux pulumi debug stack network --runner=job`
	flags.addTo(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkRunner(flags.runner) }
	return newGroup("debug", "Show the inputs of a Stack and what the controller decides about it", cmd)
}

func (s *session) debug(ctx context.Context, api client.Client, stack *v1.Stack, options observe.Options) error {
	explained, err := observe.Explain(ctx, api, stack, options, s.Now)
	if err != nil {
		return err
	}
	shared, unreadable, err := observe.Shared(ctx, api, stack, options)
	if err != nil {
		return err
	}
	if unreadable != "" {
		explained.Unreadable = append(explained.Unreadable, unreadable)
	}
	var lines [][]string
	for _, value := range explained.Values {
		lines = append(lines, []string{value.Kind, value.Name, value.Value, value.From})
	}
	if len(lines) > 0 {
		table.Print(s.Out, []string{"KIND", "NAME", "VALUE", "FROM"}, lines)
		if _, err := fmt.Fprintln(s.Out); err != nil {
			return err
		}
	}
	lines = nil
	for _, check := range words.Checks(explained) {
		lines = append(lines, []string{check.About, check.Found, check.Says})
	}
	table.Print(s.Out, []string{"CHECK", "FOUND", "DECISION"}, lines)
	for _, text := range slices.Concat(shared, words.Unknown(explained)) {
		s.Warningf("%s", text)
	}
	return nil
}
