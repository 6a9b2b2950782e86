// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// cgroupDir is where a container sees its own cgroups.
const cgroupDir = "/sys/fs/cgroup"

// OOMKills returns how many processes of this container the kernel has killed for
// exceeding its memory limit. If the node kills the whole container instead, nobody is
// left to ask, and the node reports it in the status of the pod. 0 may also mean that the
// number is unknown.
func OOMKills() int { return oomKillsIn(cgroupDir) }

func oomKillsIn(dir string) int {
	// The files of cgroup v2, and of v1.
	for _, name := range []string{"memory.events", "memory/memory.oom_control"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if number, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
				if kills, err := strconv.Atoi(number); err == nil {
					return kills
				}
			}
		}
	}
	return 0
}

// toldOfMemory adds to the result of a run how many of its processes were killed for
// exceeding the memory limit. It leaves a run that succeeded anyway as it is. It replaces
// only the outcome Failed: any other, such as Locked, decides what happens next.
func toldOfMemory(ended run.Result, kills int) run.Result {
	if kills == 0 || ended.Outcome == run.Succeeded {
		return ended
	}
	if ended.Outcome == run.Failed {
		ended.Outcome = run.PodFailed
	}
	message := "a process of the run needs more memory than its pod may have, and was killed (OOMKilled): raise spec.workspaceTemplate.spec.resources.limits.memory"
	if ended.Message != "" {
		message += "; " + ended.Message
	}
	ended.Message = message
	return ended
}
