// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// AddFound adds where the run has found the stack.
func AddFound(stack *v1.Stack, found run.Found) {
	if found.Backend != "" {
		absorbProject(stack, &run.Result{Project: found.Project, Backend: found.Backend})
	}
	stack.Status.Run.Emptied = stack.Status.Run.Emptied || found.Emptied
}

// HasFound reports whether the status has what the run has found.
func HasFound(stack *v1.Stack, found run.Found) bool {
	info := stack.Status.ProjectInfo
	isNoted := found.Project.Name == "" || found.Backend == "" ||
		info != nil && info.Name == found.Project.Name && info.Runtime == found.Project.Runtime && info.Backend == found.Backend
	return isNoted && (stack.Status.Run.Emptied || !found.Emptied)
}

// A creation whose provider has died is in no state: only the events of its run name it.
// The status names it as soon as they do, and not only with the result, since the run may
// continue for as long as its other operations take. If this process and its disk were lost
// before that, the resource would be created a second time. The result names it again, so
// nothing has to be taken back.

// maxUnknownCreates bounds those that the status names of runs in flight, in bytes. etcd
// takes 1.5 MiB, and the result, which is bounded too, needs room next to them.
const maxUnknownCreates = 512 << 10

// AddUnknownCreates adds creations to the status while there is room: a program that
// writes to the Secret of its own run can report more and more.
func AddUnknownCreates(stack *v1.Stack, urns []string) {
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
