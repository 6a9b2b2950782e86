// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A creation whose provider has died is in no state: only the events of its run tell
// of it. It is named in the status as soon as they do, and not with the result, as
// the run may go on for as long as its other operations take: if this process and its
// disk were lost meanwhile, it would be made a second time. The result names it again,
// so that nothing is to be taken back.

// nameCreates writes the creations of unknown outcome of the run in flight.
func (r *StackReconciler) nameCreates(ctx context.Context, stack *v1.Stack) error {
	return r.patchStatus(ctx, stack, func() {
		addUnknownCreates(stack, r.unknownCreatesInFlight(stack.Status.Run))
	})
}

// unknownCreatesInFlight are those of the run, as far as they are known while it is
// in flight.
func (r *StackReconciler) unknownCreatesInFlight(record *v1.RunStatus) []string {
	if r.UnknownCreates == nil || record == nil {
		return nil
	}
	return r.UnknownCreates(record.ID)
}

// maxUnknownCreates bounds what the status names of runs in flight, in bytes. etcd takes
// 1.5 MiB, and the result, which is bounded too, has to have room beside it.
const maxUnknownCreates = 512 << 10

// addUnknownCreates adds them to those that the status names, where there is room: a
// program that writes to the Secret of its own run can tell of others time and again.
func addUnknownCreates(stack *v1.Stack, urns []string) {
	if len(urns) == 0 {
		return
	}
	size := 0
	for _, urn := range stack.Status.UnknownCreates {
		size += jsonSize(urn)
	}
	var more []string
	for _, urn := range urns {
		if _, known := slices.BinarySearch(stack.Status.UnknownCreates, urn); known {
			continue
		}
		if size += jsonSize(urn); size > maxUnknownCreates {
			break
		}
		more = append(more, urn)
	}
	stack.Status.UnknownCreates = unionOf(stack.Status.UnknownCreates, more)
}

// jsonSize is what a member of a list takes: quotes and a comma.
func jsonSize(text string) int { return len(text) + 3 }

// unionOf is sorted, so that the same creations always look the same.
func unionOf(one, other []string) []string {
	all := slices.Concat(one, other)
	slices.Sort(all)
	return slices.Compact(all)
}
