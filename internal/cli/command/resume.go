// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
)

func newResume(s *session) *cobra.Command {
	var which selection
	var wait bool
	cmd := &cobra.Command{
		Use: "stack [name...]", Aliases: []string{"stacks"},
		Short: "Resume suspended Stacks",
		Long:  "Resumes suspended Stacks. If you name a single Stack, the command waits until it is ready; otherwise only with --wait.",
		Example: `  # Resume a Stack and wait until it is ready
  flux pulumi resume stack network

  # Resume all Stacks of a namespace without waiting
  flux pulumi resume stack --all -n apps`,
		ValidArgsFunction: s.completeNames(cluster.Stack().GroupVersionKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := s.limited(cmd)
			defer cancel()
			api, err := s.connect(ctx)
			if err != nil {
				return err
			}
			set, err := s.setSuspend(ctx, api, cluster.Stack(), args, which, resuming)
			if wait || !cmd.Flags().Changed("wait") && len(args) == 1 {
				err = errors.Join(err, s.awaitResumed(ctx, api, set))
			}
			return err
		},
	}
	which.addFlags(cmd)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the resumed Stacks are ready")
	return newGroup("resume", "Resume suspended Stacks", cmd)
}

// awaitResumed waits until the current specs of the targets are reconciled. It waits for
// all at once, so that a stuck target does not use up the time of the others.
func (s *session) awaitResumed(ctx context.Context, api client.Reader, targets []target) error {
	if len(targets) == 0 {
		return nil
	}
	s.Waitingf("waiting for %s reconciliation", targets[0].Kind)
	var failures []error
	s.awaitEach(ctx, api, targets, ready.AtGeneration, func(of target, object *unstructured.Unstructured, err error) {
		switch {
		case isGone(object, err):
			s.Successf("%s %s deleted", of.Kind, of.Name)
		case err != nil:
			failures = append(failures, fmt.Errorf("%s %s reconciliation failed: %w", of.Kind, of.Name, err))
		default:
			s.Successf("%s %s reconciliation completed", of.Kind, of.Name)
			s.Successf("%s", successMessage(object))
		}
	})
	return s.tellAll(ctx, failures, fmt.Sprintf("reconciliation failed for %d Stack(s)", len(failures)))
}
