// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// A creation whose provider has died is in no state: only the events of its run name it.
// The status names it as soon as they do, and not only with the result, since the run may
// go on for as long as its other operations take. If this process and its disk were lost
// before that, the resource would be created a second time. The result names it again, so
// nothing has to be taken back.

// maxUnknownCreates bounds those that the status names of runs in flight, in bytes. etcd
// takes 1.5 MiB, and the result, which is bounded too, needs room next to them.
const maxUnknownCreates = 512 << 10

// addUnknownCreates adds creations to the status while there is room: a program that
// writes to the Secret of its own run can report more and more.
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

// jsonSize is the size of a list item, with quotes and a comma.
func jsonSize(text string) int { return len(text) + 3 }

// unionOf sorts, so that the same creations always look the same.
func unionOf(one, other []string) []string {
	all := slices.Concat(one, other)
	slices.Sort(all)
	return slices.Compact(all)
}
