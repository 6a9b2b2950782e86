// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// driftName is the command whose exit codes are those of flux diff.
const driftName = "drift"

func newDrift(s *session) *cobra.Command {
	var output string
	cmd := newStackCommand(s, "Show what was changed outside of Pulumi",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.drift(ctx, api, stack, output)
		})
	cmd.Long = `Shows which resources of a Stack the last check has found to be changed or deleted outside of Pulumi, with the value in the
state and the actual value of each property. You need permission to read ConfigMaps in the namespace. The exit code is 0 if
there is no drift, 1 if there is, and above 1 for an error: also if the last check has failed, or there was none.`
	cmd.Example = `  # Show what the last check has found
  flux pulumi drift stack network

  # Check first
  flux pulumi reconcile stack network --check-drift && flux pulumi drift stack network`
	addOutputFlag(cmd, cmd.Flags(), &output, "print the drift as json, yaml or markdown", markdownOutput)
	return newGroup(driftName, "Show what was changed outside of Pulumi", cmd)
}

func (s *session) drift(ctx context.Context, api client.Reader, stack *v1.Stack, output string) error {
	of := stack.Status.Drift
	if of == nil || of.Result == "" {
		return fmt.Errorf("there was no check of Stack %s for drift yet: run %s", stack.Name, checkOf(stack))
	}
	failed := of.Result == v1.DriftCheckFailedReason
	if of.Digest != "" || of.Unfinished != nil {
		text := words.Drift(of)
		if of.Digest != "" {
			if err := s.showDrift(ctx, api, stack, output); err != nil {
				return err
			}
			text += ", first seen " + s.agoOf(of.Since)
		}
		if err := s.showUnfinished(of.Unfinished, output); err != nil {
			return err
		}
		if !failed {
			return &exitError{Code: exitFailed, Err: fmt.Errorf("%s, last checked %s", text, s.agoOf(of.LastCheckedAt))}
		}
		s.Warningf("%s", text)
	}
	if failed {
		return fmt.Errorf("the last check for drift, %s, has failed: %s", s.agoOf(of.LastCheckedAt), of.Message)
	}
	s.Successf("%s, last checked %s", words.Drift(of), s.agoOf(of.LastCheckedAt))
	return nil
}

// showDrift shows the details of the drift.
func (s *session) showDrift(ctx context.Context, api client.Reader, stack *v1.Stack, output string) error {
	found, err := readDrift(ctx, api, stack)
	if err != nil {
		return err
	}
	switch output {
	case "":
		_, err = fmt.Fprint(s.Out, plan.DriftTerminal(found, s.width(), s.planColour))
	case markdownOutput:
		_, err = fmt.Fprint(s.Out, plan.DriftMarkdown(found, maxMarkdown))
	default:
		err = printValue(s.Out, output, found)
	}
	return err
}

// showUnfinished lists the resources whose drift is in the state: no check has the details.
func (s *session) showUnfinished(of *v1.UnfinishedDrift, output string) error {
	if of == nil || output != "" {
		return nil
	}
	for _, urn := range of.Targets {
		if _, err := fmt.Fprintf(s.Out, " ~ %s %s (recorded in the state)\n", table.Visible(plan.ResourceType(urn)), table.Visible(plan.ResourceName(urn))); err != nil {
			return err
		}
	}
	return nil
}

// readDrift reads the details of the drift.
func readDrift(ctx context.Context, api client.Reader, stack *v1.Stack) (plan.Plan, error) {
	of := stack.Status.Drift
	if of.ConfigMap == "" || of.ContentDigest == "" {
		return plan.Plan{}, fmt.Errorf("the details of the drift were not written: run %s", checkOf(stack))
	}
	data, err := ownedData(ctx, api, stack, of.ConfigMap, inventory.PlanKey, of.ContentDigest)
	switch {
	case errors.Is(err, errGone):
		return plan.Plan{}, fmt.Errorf("%w: run %s", err, checkOf(stack))
	case errors.Is(err, errOther):
		return plan.Plan{}, fmt.Errorf("%w: delete it, and run %s", err, checkOf(stack))
	case err != nil:
		return plan.Plan{}, err
	}
	return inventory.DecodePlan(data)
}

// agoOf formats how long ago a time is that a status may lack.
func (s *session) agoOf(then *metav1.Time) string {
	if then == nil {
		return "at an unknown time"
	}
	return s.ago(then.Time) + " ago"
}

// checkOf returns the command that checks the Stack for drift.
func checkOf(stack *v1.Stack) string { return reconcileOf(stack) + " --check-drift" }
