// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

func newCancel(s *session) *cobra.Command {
	var now bool
	cmd := newStackCommand(s, "Cancel the run in flight of a Stack and wait until it has ended",
		func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
			return s.cancel(ctx, api, stack, now)
		})
	cmd.Long = `Cancels the run in flight. Pulumi starts no new operations, and finishes and records those in flight. It has the
--cancel-grace of the controller for that, 5 minutes by default. After that, or at once with --now, it abandons what is still
in flight, and the controller recovers the Stack. Set a --timeout longer than the grace to wait for all of that.
The controller does not start the run again until there is a new revision, an edit or a reconcile request.`
	cmd.Example = `  # Cancel a run
  flux pulumi cancel stack network

  # Do not wait for what is in flight
  flux pulumi cancel stack network --now

  # Start it again
  flux pulumi reconcile stack network`
	cmd.Flags().BoolVar(&now, "now", false, "abandon the operations in flight instead of waiting for them")
	return newGroup("cancel", "Cancel a run in flight", cmd)
}

func (s *session) cancel(ctx context.Context, api client.WithWatch, stack *v1.Stack, now bool) error {
	running := stack.Status.Run
	if err := s.askToCancel(ctx, api, stack, now); err != nil {
		return err
	}
	s.Waitingf("waiting for run %s (%s) to end", running.ID, running.Operation)
	object, err := s.await(ctx, api, stackTarget(stack), func(object *unstructured.Unstructured) (bool, error) {
		id, _, err := unstructured.NestedString(object.Object, "status", "run", "id")
		return id != running.ID, err
	})
	switch {
	case isGone(object, err):
		// The outcome is gone with the Stack: the run may also have been cancelled or
		// failed.
		s.Successf("run %s has ended and the Stack is deleted", running.ID)
		return nil
	case err != nil:
		return err
	}
	done := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, done); err != nil {
		return fmt.Errorf("reading Stack %s: %w", stack.Name, err)
	}
	return s.cancelled(done, running.ID)
}

// askToCancel requests that the run in flight is cancelled, and does not wait for its end.
func (s *session) askToCancel(ctx context.Context, api client.Client, stack *v1.Stack, now bool) error {
	running := stack.Status.Run
	if running == nil {
		return fmt.Errorf("no run of Stack %s is in flight", stack.Name)
	}
	if !run.KindOfRecord(running).Cancellable {
		return fmt.Errorf("run %s of Stack %s only reads its outputs and cannot be cancelled", running.ID, stack.Name)
	}
	annotation := v1.CancelRunAnnotation
	if now {
		annotation = v1.CancelRunNowAnnotation
	}
	return s.annotateStack(ctx, api, stack, annotation, running.ID)
}

// cancelled reports how the run ended. A run that was over before the request reached it was
// not cancelled: if it failed, it is tried again.
func (s *session) cancelled(stack *v1.Stack, id string) error {
	noted, last, preview := stack.Status.CancelledRun, stackstatus.LastRun(stack), stack.Status.Preview
	switch {
	case noted != nil && noted.ID == id:
		s.Successf("%s", noted.Message)
	case last != nil && last.ID == id && last.Reason == v1.CancelRequestedReason:
		// The next run has started already, and dropped status.cancelledRun.
		s.Successf("%s", last.Message)
	case last != nil && last.ID == id && last.State == v1.UpdateFailed:
		return fmt.Errorf("run %s failed before it could be cancelled: %s", id, last.Message)
	case last != nil && last.ID == id && last.State == v1.UpdateSucceeded,
		preview != nil && preview.Run == id && preview.State == v1.UpdateSucceeded:
		return fmt.Errorf("run %s succeeded before it could be cancelled", id)
	default:
		s.Successf("run %s has ended", id)
	}
	return nil
}
