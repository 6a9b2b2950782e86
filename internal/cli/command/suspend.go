// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

func newSuspend(s *session) *cobra.Command {
	var which selection
	cmd := &cobra.Command{
		Use: "stack [name...]", Aliases: []string{"stacks"},
		Short: "Suspend Stacks",
		Long:  "Suspends Stacks: nothing runs until they are resumed. A run in flight continues until it ends,\nunless no pod has started it yet.",
		Example: `  # Suspend two Stacks
  flux pulumi suspend stack network cluster

  # Suspend those with a label
  flux pulumi suspend stack -l tier=base`,
		ValidArgsFunction: s.completeNames(cluster.Stack().GroupVersionKind),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := s.limited(cmd)
			defer cancel()
			api, err := s.connect(ctx)
			if err != nil {
				return err
			}
			_, err = s.setSuspend(ctx, api, cluster.Stack(), args, which, suspending)
			return err
		},
	}
	which.addFlags(cmd)
	return newGroup("suspend", "Suspend Stacks", cmd)
}

// selection selects objects when none is named.
type selection struct {
	all      bool
	selector string
}

func (w *selection) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.all, "all", false, "select all in the namespace")
	cmd.Flags().StringVarP(&w.selector, "label-selector", "l", "", "select by labels")
	cmd.MarkFlagsMutuallyExclusive("all", "label-selector")
}

// suspension is a value for spec.suspend, with the words for setting it.
type suspension struct {
	value          bool
	now, done, inf string
}

var (
	suspending = suspension{true, "suspending", "suspended", "suspend"}
	resuming   = suspension{false, "resuming", "resumed", "resume"}
)

// setSuspend sets spec.suspend of the named or selected objects, and returns those it
// changed. It continues after an object that cannot be found.
func (s *session) setSuspend(ctx context.Context, api client.Client, kind cluster.Kind, names []string, which selection, how suspension) ([]target, error) {
	targets, err := s.selectTargets(ctx, api, kind, names, which)
	if err != nil {
		return nil, err
	}
	var set []target
	var failures []error
	for _, of := range targets {
		err := s.setSuspendOf(ctx, api, kind, of, how)
		switch {
		case apierrors.IsNotFound(err):
			failures = append(failures, fmt.Errorf("%s %s not found in %s namespace", kind.Kind, of.Name, of.Namespace))
		case err != nil:
			failures = append(failures, fmt.Errorf("failed %s %s %s in %s namespace: %w", how.now, kind.Kind, of.Name, of.Namespace, err))
		default:
			set = append(set, of)
			s.Successf("%s %s", kind.Singular, how.done)
		}
	}
	return set, s.tellAll(ctx, failures, fmt.Sprintf("failed to %s %d of %d %s", how.inf, len(failures), len(targets), kind.Plural))
}

// setSuspendOf sets spec.suspend of one object.
func (s *session) setSuspendOf(ctx context.Context, api client.Client, kind cluster.Kind, of target, how suspension) error {
	object, err := of.get(ctx, api)
	if err != nil {
		return err
	}
	s.Actionf("%s %s %s in %s namespace", how.now, kind.Singular, of.Name, of.Namespace)
	return mergePatch(ctx, api, object, map[string]any{"spec": map[string]any{"suspend": how.value}})
}

// selectTargets returns the named objects, each once, or all that are selected.
func (s *session) selectTargets(ctx context.Context, api client.Client, kind cluster.Kind, names []string, which selection) ([]target, error) {
	if len(names) > 0 {
		if which != (selection{}) {
			return nil, fmt.Errorf("either names or a selector is required")
		}
		var targets []target
		for i, name := range names {
			if !slices.Contains(names[:i], name) {
				targets = append(targets, target{kind.GroupVersionKind, client.ObjectKey{Namespace: s.namespace(), Name: name}})
			}
		}
		return targets, nil
	}
	if which == (selection{}) {
		return nil, fmt.Errorf("%s name is required", kind.Singular)
	}
	selector, err := labels.Parse(which.selector)
	if err != nil {
		return nil, fmt.Errorf("unable to parse label selector: %w", err)
	}
	objects, err := kind.List(ctx, api, client.InNamespace(s.namespace()), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no %s objects found in %s namespace", kind.Kind, s.namespace())
	}
	var targets []target
	for _, object := range objects {
		targets = append(targets, target{kind.GroupVersionKind, client.ObjectKeyFromObject(object)})
	}
	return targets, nil
}
