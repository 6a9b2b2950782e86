// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
)

// newStackCommand returns a command that works on one Stack.
func newStackCommand(s *session, short string, do func(ctx context.Context, api client.WithWatch, stack *v1.Stack) error) *cobra.Command {
	return &cobra.Command{
		Use: "stack [name]", Aliases: []string{"stacks"}, Short: short,
		ValidArgsFunction: s.completeName(cluster.Stack().GroupVersionKind),
		RunE: s.onOne(cluster.Stack(), func(ctx context.Context, api client.WithWatch, of target) error {
			stack := &v1.Stack{}
			if err := api.Get(ctx, of.ObjectKey, stack); err != nil {
				return cluster.Explain(err)
			}
			return do(ctx, api, stack)
		}),
	}
}

func stackTarget(stack *v1.Stack) target {
	return target{cluster.Stack().GroupVersionKind, client.ObjectKeyFromObject(stack)}
}

// annotateStack sets an annotation of the Stack.
func (s *session) annotateStack(ctx context.Context, api client.Client, stack *v1.Stack, annotation, value string) error {
	return s.annotateStackWith(ctx, api, stack, map[string]any{annotation: value})
}

// annotateStackWith sets annotations of the Stack, and removes those that are nil.
func (s *session) annotateStackWith(ctx context.Context, api client.Client, stack *v1.Stack, annotations map[string]any) error {
	of := stackTarget(stack)
	object, err := of.get(ctx, api)
	if err != nil {
		return err
	}
	s.Actionf("annotating Stack %s in %s namespace", stack.Name, stack.Namespace)
	if err := mergePatch(ctx, api, object, map[string]any{"metadata": map[string]any{"annotations": annotations}}); err != nil {
		return err
	}
	s.Successf("Stack annotated")
	return nil
}
