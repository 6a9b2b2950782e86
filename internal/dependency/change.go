// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Change is what a new version of a Stack may mean to others.
type Change struct {
	// Ready: those that wait for the Stack to be ready may go on. That it is ready
	// no longer is told to nobody: what is held back by it finds out when it wants
	// to run.
	Ready bool
	// Any: an expression over the Stack may have another value.
	Any bool
	// Order: the Stack depends on others than before, so that a circle may be
	// closed or open, of which all that depend on it may be a part.
	Order bool
	// Freed are the Stacks that it no longer depends on.
	Freed []Key
}

// Compare tells what has changed.
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

// appliedMore tells of two versions that are both ready whether the second is so
// with something else.
func appliedMore(before, after *v1.Stack) bool {
	return before.Generation != after.Generation ||
		before.Status.LastAppliedRevision != after.Status.LastAppliedRevision ||
		!equality.Semantic.DeepEqual(before.Status.LastUpdate, after.Status.LastUpdate)
}
