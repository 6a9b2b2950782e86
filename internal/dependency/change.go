// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// Change is what a new version of a Stack may mean to Stacks that depend on it.
type Change struct {
	// Ready: Stacks that wait for this one to be ready may continue. Nobody is notified
	// when it stops being ready: its dependents find out when they want to run.
	Ready bool
	// Any: an expression over the Stack may have a new value.
	Any bool
	// Order: the Stack's dependencies changed. This may create or break a cycle that any
	// of its direct or indirect dependents are part of.
	Order bool
	// Freed are the Stacks that it no longer depends on.
	Freed []Key
}

// Compare returns what has changed between two versions of a Stack.
func Compare(before, after *v1.Stack) Change {
	was, is := Edges(before, false), Edges(after, false)
	freed := slices.DeleteFunc(slices.Clone(was), func(key Key) bool { return slices.Contains(is, key) })
	return Change{
		Ready: IsReady(after) && (!IsReady(before) || appliedMore(before, after)),
		Any:   before.ResourceVersion != after.ResourceVersion,
		Order: !slices.Equal(was, is),
		Freed: freed,
	}
}

// appliedMore tells, for two versions that are both ready, whether something else was
// applied in between.
func appliedMore(before, after *v1.Stack) bool {
	return before.Generation != after.Generation ||
		before.Status.LastAppliedRevision != after.Status.LastAppliedRevision ||
		!equality.Semantic.DeepEqual(stackstatus.LastRun(before), stackstatus.LastRun(after))
}
