// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
)

func newApprove(s *session) *cobra.Command {
	var digest string
	var yes, ahead bool
	cmd := newStackCommand(s, "Show the plan of a Stack and approve it",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			switch {
			case ahead && isRejected(stack, digest):
				return errRejected(stack, digest)
			case ahead && !isProposed(stack, digest):
				return s.approveAhead(ctx, api, stack, digest, yes)
			}
			return s.approve(ctx, api, stack, digest, yes)
		})
	cmd.Long = `Shows what a Stack with spec.approval proposes, asks, and approves exactly that: if the Stack proposes another plan in the
meantime, nothing is approved. The approval names the user of the kubeconfig. You need permission to patch the Stack and to
read ConfigMaps in its namespace, and the role pulumi-approve if config/approvals is installed.

With --ahead, the plan need not be proposed yet: a pull request shows the digest that the Stack proposes after the merge, if
nothing else has changed by then. The Stack then applies that plan at once, and any other one waits. Nothing is shown.`
	cmd.Example = `  # See what is proposed, and approve it
  flux pulumi approve stack network

  # Approve a plan that was reviewed elsewhere
  flux pulumi approve stack network --digest sha256:5b0c... --yes

  # Approve the plan of a pull request before it is merged
  flux pulumi approve stack network --digest sha256:5b0c... --ahead`
	cmd.Flags().StringVar(&digest, "digest", "", "the digest of the plan to approve, refuse any other")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&ahead, "ahead", false, "approve the plan with that --digest even if it is not proposed yet")
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkAhead(ahead, digest) }
	return newGroup("approve", "Approve what a Stack proposes", cmd)
}

func (s *session) approve(ctx context.Context, api client.Client, stack *v1.Stack, digest string, yes bool) error {
	of, err := wantedProposal(stack, digest)
	if err != nil {
		return err
	}
	if err := s.showWanted(ctx, api, stack, of, digest != ""); err != nil {
		return err
	}
	if stack.Spec.Suspend {
		s.Warningf("the Stack is suspended: the plan is applied once it is resumed")
	}
	if stack.Annotations[v1.ApproveAnnotation] == of.Digest && stack.Annotations[v1.RejectAnnotation] != of.Digest {
		s.Successf("the plan is approved by %s already", stack.Annotations[v1.ApprovedByAnnotation])
		return nil
	}
	if isRejected(stack, of.Digest) {
		s.Warningf("the plan was rejected by %s, and this takes that back", rejection(stack))
	}
	if !yes {
		if err := s.confirm(ctx, "Approve this plan?"); err != nil {
			return err
		}
	}
	user, err := s.decide(ctx, api, stack, stillToApprove(stack, of), approvalOf(of.Digest))
	if err != nil {
		return err
	}
	s.Successf("plan approved as %s", user)
	return nil
}

// approvalOf are the annotations with which a user approves a plan.
func approvalOf(digest string) func(user string) map[string]any {
	return func(user string) map[string]any {
		return map[string]any{
			v1.ApproveAnnotation: digest, v1.ApprovedByAnnotation: user, v1.RejectAnnotation: nil, v1.RejectReasonAnnotation: nil,
		}
	}
}

// showWanted shows what is about to be approved. One whose digest is known was seen elsewhere: in a
// namespace that is being deleted, for example, no details can be written.
func (s *session) showWanted(ctx context.Context, api client.Reader, stack *v1.Stack, of *v1.PlanStatus, known bool) error {
	read, err := readPlan(ctx, api, stack, of)
	switch {
	case err != nil && known:
		s.Warningf("the plan is not shown: %v", err)
		s.Actionf("%s", words.ProposalText(of, cmp.Or(words.Counts(of.ResourceChanges, int(of.OptionChanges)), "only outputs change")))
		return nil
	case err != nil:
		return fmt.Errorf("%w. To approve it all the same, use --digest %s", err, of.Digest)
	}
	if err := s.showProposal(stack, of, read); err != nil {
		return err
	}
	s.Actionf("%s", words.ProposalText(of, read.CountsText()))
	return nil
}

// wantedProposal returns what the Stack proposes, if that has the digest, or that is empty.
func wantedProposal(stack *v1.Stack, digest string) (*v1.PlanStatus, error) {
	of := words.Proposal(stack)
	switch {
	case of == nil:
		return nil, words.ErrNothingProposed(stack)
	case digest != "" && digest != of.Digest:
		return nil, fmt.Errorf("plan %s is not proposed, but plan %s is: see it with flux pulumi diff stack %s -n %s", digest, of.Digest, stack.Name, stack.Namespace)
	}
	return of, nil
}

// confirm asks, and returns an error unless the answer is yes.
func (s *session) confirm(ctx context.Context, question string) error {
	s.Done()
	if _, err := fmt.Fprintf(s.Err, "%s [y/N] ", question); err != nil {
		return err
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(s.In, 100)).ReadString('\n') // no answer is no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return fmt.Errorf("nothing was approved: there was no answer: %w", ctx.Err())
	case given := <-answer:
		if given != "y" && given != "yes" {
			return errors.New("nothing was approved: answer y, or use --yes")
		}
	}
	return nil
}
