// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/dependency"
)

// A controller of a shard, or of one namespace, caches only its own Stacks, but those of
// others count as well. This file reads them, and polls them, as their changes trigger no
// event.

// pageSize is how many Stacks are read from the API server at a time.
const pageSize = 250

// allDependents returns the direct dependents of a Stack, in all namespaces. It bypasses
// a partial cache: a dependent that it lacks would lose its Stack to a destroy.
func (o *Observer) allDependents(ctx context.Context, key client.ObjectKey) ([]client.ObjectKey, error) {
	if !o.PartialCache {
		return o.DependentGraph(ctx)(key)
	}
	if o.NoCrossNamespaceRefs {
		return o.readDependents(ctx, key, client.InNamespace(key.Namespace))
	}
	keys, err := o.readDependents(ctx, key)
	if apierrors.IsForbidden(err) {
		// A controller of one namespace need not have more rights.
		return o.readDependents(ctx, key, client.InNamespace(key.Namespace))
	}
	return keys, err
}

// readDependents pages through the Stacks of the API server. It has no index, but
// deletions are rare.
func (o *Observer) readDependents(ctx context.Context, key client.ObjectKey, where ...client.ListOption) ([]client.ObjectKey, error) {
	var keys []client.ObjectKey
	for next := ""; ; {
		var page v1.StackList
		options := append(slices.Clone(where), client.Limit(pageSize), client.Continue(next))
		if err := o.APIReader.List(ctx, &page, options...); err != nil {
			return nil, fmt.Errorf("failed to list the Stacks that depend on Stack %s: %w", key, err)
		}
		for i := range page.Items {
			if slices.Contains(dependency.Edges(&page.Items[i], o.NoCrossNamespaceRefs), key) {
				keys = append(keys, client.ObjectKeyFromObject(&page.Items[i]))
			}
		}
		if next = page.Continue; next == "" {
			return keys, nil
		}
	}
}

// recheckUncached schedules another check if any of the Stacks that are waited for is not in
// the cache. Any error counts as such: the cache of one namespace cannot read others.
func (o *Observer) recheckUncached(ctx context.Context, seen *Observation, keys ...client.ObjectKey) {
	unwatched := func(key client.ObjectKey) bool { return o.Cached.Get(ctx, key, &v1.Stack{}) != nil }
	if o.PartialCache && slices.ContainsFunc(keys, unwatched) {
		seen.RecheckAfter = o.RequeueDependency
	}
}
