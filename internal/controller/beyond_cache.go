// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

// A controller of a shard, or of one namespace, has but its own Stacks in its
// cache. Those of others count all the same. What is in this file finds them, and
// sees to it that they are looked at again, as nothing tells of their changes.

// pageSize is how many Stacks are read from the API server at a time.
const pageSize = 250

// allDependents are the Stacks that depend on the Stack directly, wherever they
// are. A cache that has not all of them is not asked: a Stack would be destroyed
// under those that use it.
func (r *StackReconciler) allDependents(ctx context.Context, key client.ObjectKey) ([]client.ObjectKey, error) {
	if !r.PartialCache {
		return r.dependentGraph(ctx)(key)
	}
	if r.NoCrossNamespaceRefs {
		return r.readDependents(ctx, key, client.InNamespace(key.Namespace))
	}
	keys, err := r.readDependents(ctx, key)
	if apierrors.IsForbidden(err) {
		// A controller of one namespace need not have the right to more.
		return r.readDependents(ctx, key, client.InNamespace(key.Namespace))
	}
	return keys, err
}

// readDependents asks the API server, page by page. It has no index for that, but
// a deletion is rare.
func (r *StackReconciler) readDependents(ctx context.Context, key client.ObjectKey, where ...client.ListOption) ([]client.ObjectKey, error) {
	var keys []client.ObjectKey
	for next := ""; ; {
		var page v1.StackList
		options := append(slices.Clone(where), client.Limit(pageSize), client.Continue(next))
		if err := r.APIReader.List(ctx, &page, options...); err != nil {
			return nil, fmt.Errorf("failed to list the Stacks that depend on Stack %s: %w", key, err)
		}
		for i := range page.Items {
			if slices.Contains(dependency.Edges(&page.Items[i], r.NoCrossNamespaceRefs), key) {
				keys = append(keys, client.ObjectKeyFromObject(&page.Items[i]))
			}
		}
		if next = page.Continue; next == "" {
			return keys, nil
		}
	}
}

// noteUntold notes when to look again if one of the Stacks, which are waited for,
// is not in the cache. One that cannot be read there, as the cache of a namespace
// has none of others, is not in it.
func (r *StackReconciler) noteUntold(ctx context.Context, seen *observed, keys ...client.ObjectKey) {
	unwatched := func(key client.ObjectKey) bool { return r.Get(ctx, key, &v1.Stack{}) != nil }
	if r.PartialCache && slices.ContainsFunc(keys, unwatched) {
		seen.Untold = r.RequeueDependency
	}
}
