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
)

func newReject(s *session) *cobra.Command {
	var digest, reason string
	cmd := newStackCommand(s, "Reject the plan of a Stack, with a reason",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.reject(ctx, api, stack, digest, reason)
		})
	cmd.Long = `Rejects what a Stack with spec.approval proposes. Nothing runs until it proposes another plan. The status and the events show
the reason and the user of the kubeconfig. To take it back, approve the plan.`
	cmd.Example = `  # Reject what is proposed
  flux pulumi reject stack network --reason "the database must not be replaced on a Friday"`
	cmd.Flags().StringVar(&digest, "digest", "", "the digest of the plan to reject, refuse any other")
	cmd.Flags().StringVar(&reason, "reason", "", "why the plan is rejected (required)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if reason == "" {
			return errors.New("--reason is required")
		}
		return nil
	}
	return newGroup("reject", "Reject what a Stack proposes", cmd)
}

func (s *session) reject(ctx context.Context, api client.Client, stack *v1.Stack, digest, reason string) error {
	of, err := wantedProposal(stack, digest)
	if err != nil {
		return err
	}
	mayReject := func(now *v1.Stack) error {
		if running := now.Status.Run; running != nil && running.Approved == of.Digest {
			return fmt.Errorf("run %s applies the plan already: cancel it with flux pulumi cancel stack %s -n %s", running.ID, now.Name, now.Namespace)
		}
		return stillProposes(of)(now)
	}
	if err := mayReject(stack); err != nil {
		return err
	}
	user, err := s.decide(ctx, api, stack, mayReject, func(user string) map[string]any {
		return map[string]any{
			v1.RejectAnnotation: of.Digest, v1.RejectReasonAnnotation: reason, v1.ApprovedByAnnotation: user, v1.ApproveAnnotation: nil,
		}
	})
	if err != nil {
		return err
	}
	s.Successf("plan %s rejected as %s", of.Digest, user)
	return nil
}
