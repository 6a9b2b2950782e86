// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// exitPreviewFailed is the exit code of a failed preview, as of flux diff: 1 means that
// there are changes.
const exitPreviewFailed = 2

const previewName = "preview"

func newPreview(s *session) *cobra.Command {
	path, output := "", ""
	cmd := newStackCommand(s, "Preview what an update of a Stack would change", func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error {
		return s.preview(ctx, api, stack, path, output)
	})
	cmd.Long = `Asks the controller to preview an update with the current source and inputs, and shows what it would do to each resource.
Nothing is changed. The exit code is 0 if there are no changes, 1 if there are, and above 1 for an error. The stack must
exist in its backend, and the Stack must not be suspended.

An update that is due runs first. So the preview shows drift, what a failed or cancelled update has left to do, or the
changes of a Stack with spec.preview. To see what a commit would do, preview it with --path before you push it.

With --path, the preview runs the program of a local directory instead of the one of the source. It runs in the cluster, with
the inputs and permissions of the Stack. You need permission to create and delete ConfigMaps in the Stack's namespace.`
	cmd.Example = `  # Preview an update
  flux pulumi preview stack network

  # Preview what is not committed yet
  flux pulumi preview stack network --path ./infra/network

  # Preview a Program that is not applied yet
  flux pulumi preview stack network --path ./apps/network-program.yaml

  # Write what a pull request would change for a comment on it
  flux pulumi preview stack network --path ./infra/network -o markdown > comment.md`
	cmd.Flags().StringVar(&path, "path", "",
		"the local directory of the program, which replaces the source and its dir; or, with spec.programRef, a file with the Program or a Pulumi.yaml")
	addOutputFlag(cmd, cmd.Flags(), &output, "print what would change as json, yaml or markdown", markdownOutput)
	checkOutput := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("path") && path == "" {
			return errors.New("--path must be a directory or a file, not empty")
		}
		return checkOutput(cmd, args)
	}
	return newGroup(previewName, "Preview changes", cmd)
}

// preview requests and shows a preview, of the local program if path is set.
func (s *session) preview(ctx context.Context, api client.WithWatch, stack *v1.Stack, path, output string) error {
	if stack.Spec.Suspend {
		return ready.ErrSuspended
	}
	of := &traces{}
	defer s.removeTraces(ctx, api, stack, of)
	if path != "" {
		if err := s.bring(ctx, api, stack, path, of); err != nil {
			return err
		}
	}
	return s.previewOf(ctx, api, stack, of, output)
}

// previewOf requests a preview of the local program, or else of the Stack's own, and
// waits for it. It replaces a local program left by another command.
func (s *session) previewOf(ctx context.Context, api client.WithWatch, stack *v1.Stack, of *traces, output string) error {
	request := s.Now().Format(time.RFC3339Nano)
	of.request = request
	if err := s.askToPreview(ctx, api, stack, of.program, request); err != nil {
		return err
	}
	s.Waitingf("waiting for the preview")
	object, err := s.await(ctx, api, stackTarget(stack), func(object *unstructured.Unstructured) (bool, error) {
		return isPreviewed(object, request)
	})
	if err != nil {
		return err
	}
	of.request = "" // an answered request stays, like that of a reconcile
	done := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, done); err != nil {
		return fmt.Errorf("reading Stack %s: %w", stack.Name, err)
	}
	return s.showPreview(ctx, api, done, output)
}

// askToPreview requests a preview of the local program, or else of the Stack's own, and does not wait for it.
func (s *session) askToPreview(ctx context.Context, api client.Client, stack *v1.Stack, program, request string) error {
	annotations := map[string]any{v1.PreviewRequestAnnotation: request, v1.PreviewProgramAnnotation: nil}
	if program != "" {
		annotations[v1.PreviewProgramAnnotation] = program
	}
	return s.annotateStackWith(ctx, api, stack, annotations)
}

// isPreviewed reports whether the request was answered. It returns an error if another
// request replaced this one, which is then never answered.
func isPreviewed(object *unstructured.Unstructured, request string) (bool, error) {
	answered, _, err := unstructured.NestedString(object.Object, "status", "preview", "request")
	if err != nil {
		return false, err
	}
	if answered == request {
		ended, _, err := unstructured.NestedString(object.Object, "status", "preview", "endedAt")
		return ended != "", err
	}
	if object.GetAnnotations()[v1.PreviewRequestAnnotation] != request {
		return false, errors.New("another preview of the Stack was requested in the meantime: try again")
	}
	return false, nil
}

func (s *session) showPreview(ctx context.Context, api client.Reader, stack *v1.Stack, output string) error {
	recorded := stack.Status.Preview
	made, left, err := readPreview(ctx, api, stack)
	if err != nil {
		return err
	}
	changes := made.Counts().Total()
	if err := s.printPreview(made, left, recorded.Revision, output); err != nil {
		return err
	}
	if left > 0 {
		changes += left
		s.Warningf("%d more are not listed, because their events could not be read", left)
	}
	switch {
	case changes > 0:
		return &exitError{Code: exitFailed, Err: fmt.Errorf("an update to revision %s would change this: %s", recorded.Revision, words.Counts(recorded.ResourceChanges, made.Counts().Options))}
	case !made.IsEmpty():
		s.Successf("only outputs would change at revision %s", recorded.Revision)
	default:
		s.Successf("no changes at revision %s", recorded.Revision)
	}
	return nil
}

// readPreview returns what a preview that has ended has found, and how many changes more it has counted.
func readPreview(ctx context.Context, api client.Reader, stack *v1.Stack) (made plan.Plan, unlisted int, err error) {
	recorded := stack.Status.Preview
	if recorded.State != v1.UpdateSucceeded {
		return plan.Plan{}, 0, fmt.Errorf("preview failed: %s", recorded.Message)
	}
	if recorded.Message != "" {
		return plan.Plan{}, 0, errors.New(recorded.Message)
	}
	data, err := ownedData(ctx, api, stack, recorded.ConfigMap, inventory.PlanKey, recorded.Digest)
	if err != nil {
		return plan.Plan{}, 0, explainLost(ctx, api, stack, err)
	}
	made, err = inventory.DecodePlan(data)
	return made, max(0, countOf(recorded.ResourceChanges)-made.Counts().Total()), err
}

// printPreview prints what a preview has found. What is not listed may be anything.
func (s *session) printPreview(made plan.Plan, unlisted int, revision, output string) error {
	if output == "" {
		return s.showPlan(made)
	}
	made.More.Other += unlisted
	if output == markdownOutput {
		_, err := fmt.Fprintln(s.Out, plan.Comment{Plan: made, Revision: revision}.Markdown())
		return err
	}
	return printValue(s.Out, output, made)
}

// countOf returns how many changes were counted. An older controller also counts those whose
// events it could not read.
func countOf(changes v1.ResourceChanges) int {
	return int(changes.Created + changes.Updated + changes.Replaced + changes.Deleted)
}

// explainLost says why the result of the preview is missing, and what to do. A later
// preview is in the status before it overwrites the ConfigMap.
func explainLost(ctx context.Context, api client.Reader, stack *v1.Stack, err error) error {
	if !errors.Is(err, errGone) && !errors.Is(err, errOther) {
		return err
	}
	now := &v1.Stack{}
	if err := api.Get(ctx, client.ObjectKeyFromObject(stack), now); err != nil {
		return cluster.Explain(err)
	}
	switch {
	case now.Status.Preview == nil || now.Status.Preview.Request != stack.Status.Preview.Request:
		return errors.New("another preview of the Stack was requested and replaced this one: try again")
	case errors.Is(err, errGone):
		return fmt.Errorf("%w, and with it the result of the preview: try again", err)
	}
	return fmt.Errorf("%w: delete it and try again", err)
}
