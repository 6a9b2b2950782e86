// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/ready"
)

// fieldOwner is the field manager of the flux command. kustomize-controller leaves its
// fields alone.
const fieldOwner = client.FieldOwner("flux")

func newReconcile(s *session) *cobra.Command {
	return newGroup("reconcile", "Reconcile a Stack or a Program", newReconcileStack(s), newReconcileProgram(s))
}

func newReconcileStack(s *session) *cobra.Command {
	var withSource, force, checkDrift bool
	cmd := &cobra.Command{
		Use: "stack [name]", Aliases: []string{"stacks"},
		Short: "Run a Stack now and wait for the result",
		Long: `Runs a Stack now, even if its inputs have not changed or the retry interval has not passed, and waits for the result.
If a run is in flight, the command waits for it first. With --force, the run also refreshes the state before the update, so
that changes made by hand are undone. With --check-drift, nothing is run: the Stack is checked for such changes.`,
		Example: `  # Run a Stack
  flux pulumi reconcile stack network

  # Reconcile its source first
  flux pulumi reconcile stack network --with-source

  # Undo changes that were made by hand
  flux pulumi reconcile stack network --force --timeout 20m

  # Find changes that were made by hand
  flux pulumi reconcile stack network --check-drift`,
		ValidArgsFunction: s.completeName(cluster.Stack().GroupVersionKind),
		RunE: s.onOne(cluster.Stack(), func(ctx context.Context, api client.WithWatch, of target) error {
			if checkDrift {
				return s.checkDrift(ctx, api, of)
			}
			return s.reconcileStack(ctx, api, of, withSource, force)
		}),
	}
	cmd.Flags().BoolVar(&withSource, "with-source", false, "reconcile the source of the Stack first")
	cmd.Flags().BoolVar(&force, "force", false, "refresh the state before the update, like spec.refresh, so that drift is undone")
	cmd.Flags().BoolVar(&checkDrift, "check-drift", false, "do not run the Stack, but check whether resources were changed outside of Pulumi")
	cmd.MarkFlagsMutuallyExclusive("check-drift", "force")
	cmd.MarkFlagsMutuallyExclusive("check-drift", "with-source")
	return cmd
}

func newReconcileProgram(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "program [name]", Aliases: []string{"programs"},
		Short:             "Check a Program now and wait for the result",
		Example:           "  # Check a Program again\n  flux pulumi reconcile program words",
		ValidArgsFunction: s.completeName(cluster.Program().GroupVersionKind),
		RunE: s.onOne(cluster.Program(), func(ctx context.Context, api client.WithWatch, of target) error {
			return s.request(ctx, api, of, false)
		}),
	}
}

// onOne runs a command on the one object that its arguments name.
func (s *session) onOne(kind cluster.Kind, do func(ctx context.Context, api client.WithWatch, of target) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		of, err := s.named(kind, args)
		if err != nil {
			return err
		}
		ctx, cancel := s.limited(cmd)
		defer cancel()
		api, err := s.connect(ctx)
		if err != nil {
			return err
		}
		return do(ctx, api, of)
	}
}

// named returns the one object that the arguments name.
func (s *session) named(kind cluster.Kind, args []string) (target, error) {
	switch len(args) {
	case 0:
		return target{}, fmt.Errorf("%s name is required", kind.Kind)
	case 1:
		return target{kind.GroupVersionKind, client.ObjectKey{Namespace: s.namespace(), Name: args[0]}}, nil
	default:
		return target{}, fmt.Errorf("expected one %s name, not %d", kind.Kind, len(args))
	}
}

func (s *session) reconcileStack(ctx context.Context, api client.WithWatch, of target, withSource, force bool) error {
	if !withSource {
		return s.request(ctx, api, of, force)
	}
	before, err := of.get(ctx, api)
	if err != nil {
		return err
	}
	stack := &v1.Stack{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(before.Object, stack); err != nil {
		return fmt.Errorf("reading Stack %s: %w", of.Name, err)
	}
	if stack.Spec.Suspend {
		return ready.ErrSuspended
	}
	source, err := s.reconcileSource(ctx, api, stack)
	if err != nil {
		return err
	}
	if !force && source != nil {
		object, err := of.get(ctx, api)
		if err != nil {
			return err
		}
		revision, _, _ := unstructured.NestedString(source.Object, "status", "artifact", "revision")
		if id := ready.Started(before, object, revision); id != "" {
			return s.awaitRun(ctx, api, of, object, id)
		}
	}
	return s.request(ctx, api, of, force)
}

// awaitRun waits for a run that the source has triggered by itself: a request would
// repeat it.
func (s *session) awaitRun(ctx context.Context, api client.Client, of target, object *unstructured.Unstructured, id string) error {
	s.Successf("%s already has this revision", of.Kind)
	_, err := s.awaitOver(ctx, api, of, object, func(object *unstructured.Unstructured) (bool, error) { return ready.AfterRun(object, id) })
	return err
}

// reconcileSource reconciles the source of a Stack and returns the object with the
// artifact, or nil if there is none.
func (s *session) reconcileSource(ctx context.Context, api client.Client, stack *v1.Stack) (*unstructured.Unstructured, error) {
	switch {
	case stack.Spec.FluxSource != nil:
		ref := stack.Spec.FluxSource.SourceRef
		if ref.Kind == sourcev1.ExternalArtifactKind {
			return nil, fmt.Errorf("cannot reconcile source of kind %s", ref.Kind)
		}
		key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
		if key.Namespace == "" {
			key.Namespace = stack.Namespace
		}
		return s.requested(ctx, api, target{sourcev1.GroupVersion.WithKind(ref.Kind), key}, false)
	case stack.Spec.ProgramRef != nil:
		key := client.ObjectKey{Namespace: stack.Namespace, Name: stack.Spec.ProgramRef.Name}
		return nil, s.request(ctx, api, target{cluster.Program().GroupVersionKind, key}, false)
	default:
		// The controller fetches the repository of spec.projectRepo for each request.
		return nil, nil
	}
}

// request requests a reconcile and waits for its end.
func (s *session) request(ctx context.Context, api client.Client, of target, force bool) error {
	_, err := s.requested(ctx, api, of, force)
	return err
}

// requested is like request, and returns the object as last seen.
func (s *session) requested(ctx context.Context, api client.Client, of target, force bool) (*unstructured.Unstructured, error) {
	before, token, err := s.askToReconcile(ctx, api, of, force)
	if err != nil {
		return nil, err
	}
	return s.awaitOver(ctx, api, of, before, func(object *unstructured.Unstructured) (bool, error) { return ready.After(object, token) })
}

// askToReconcile requests a reconcile and does not wait for it. It returns the object as it was before, and the request.
func (s *session) askToReconcile(ctx context.Context, api client.Client, of target, force bool) (*unstructured.Unstructured, string, error) {
	before, err := of.get(ctx, api)
	if err != nil {
		return nil, "", err
	}
	if ready.Suspended(before) {
		return nil, "", ready.ErrSuspended
	}
	s.Actionf("annotating %s %s in %s namespace", of.Kind, of.Name, of.Namespace)
	token := s.Now().Format(time.RFC3339Nano)
	if err := s.annotate(ctx, api, before, token, force); err != nil {
		return nil, "", err
	}
	s.Successf("%s annotated", of.Kind)
	return before, token, nil
}

// awaitOver waits for the end of a reconcile and reports its outcome.
func (s *session) awaitOver(ctx context.Context, api client.Client, of target, before *unstructured.Unstructured, isOver verdict) (*unstructured.Unstructured, error) {
	s.Waitingf("waiting for %s reconciliation", of.Kind)
	object, err := s.await(ctx, api, of, func(object *unstructured.Unstructured) (bool, error) {
		over, err := isOver(object)
		if err != nil && !errors.Is(err, ready.ErrSuspended) {
			err = fmt.Errorf("%s reconciliation failed: %w", of.Kind, err)
		}
		return over, err
	})
	if object == nil {
		object = before
	}
	switch {
	case isGone(object, err):
		s.Successf("%s deleted", of.Kind)
		return nil, nil
	case err != nil:
		return nil, err
	}
	s.Successf("%s", successMessage(object))
	return object, nil
}

// annotate requests a reconcile. A second annotation with the same value forces it.
func (s *session) annotate(ctx context.Context, api client.Client, object *unstructured.Unstructured, token string, force bool) error {
	annotations := map[string]any{meta.ReconcileRequestAnnotation: token}
	if force {
		annotations[meta.ForceRequestAnnotation] = token
	}
	return mergePatch(ctx, api, object, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// successMessage returns Flux's message for a reconciled object.
func successMessage(object *unstructured.Unstructured) string {
	for _, revision := range []struct {
		words string
		path  []string
	}{
		{"applied revision", []string{"status", "lastAppliedRevision"}},
		{"fetched revision", []string{"status", "artifact", "revision"}},
	} {
		preview, _, _ := unstructured.NestedBool(object.Object, "spec", "preview")
		if value, found, _ := unstructured.NestedString(object.Object, revision.path...); found && value != "" && !preview {
			return revision.words + " " + value
		}
	}
	return ready.Message(object)
}
