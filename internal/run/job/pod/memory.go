// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// explainMemory adds to the result of a run that processes were killed for exceeding the
// memory limit. It leaves a run that succeeded anyway as it is. It replaces
// only the outcome Failed: any other, such as Locked, decides what happens next.
func explainMemory(ended run.Result, memory cgroup.Memory) run.Result {
	if memory.Kills == 0 || ended.Outcome == run.Succeeded {
		return ended
	}
	if ended.Outcome == run.Failed {
		ended.Outcome = run.PodFailed
	}
	const limit = "spec.workspaceTemplate.spec.resources.limits.memory"
	if strings.HasPrefix(ended.Message, programerror.OutOfMemory) {
		ended.Message += "; the limit is " + limit
		return ended
	}
	message := "a process of the run exceeded the memory limit of its pod and was killed (OOMKilled): raise " + limit
	if memory.Limit > 0 {
		message += ", which is " + programerror.Quantity(memory.Limit)
	}
	if ended.Message != "" {
		message += "; " + ended.Message
	}
	ended.Message = message
	return ended
}
