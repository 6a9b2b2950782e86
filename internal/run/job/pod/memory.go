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

// OOMKills is how many processes of this container the kernel has killed because they
// needed more memory than the container may have. Where the node kills all of the
// container then, nobody is left to ask, and the node tells it of the pod. 0 also means
// that it is not known.
func OOMKills() int { return oomKillsIn(cgroupDir) }

func oomKillsIn(dir string) int {
	// Of cgroup v2, and of v1.
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

// toldOfMemory is the result of a run in which that many processes were killed for want
// of memory. A run that has succeeded all the same is none that anything is told of. One
// that has met a lock, or the like, has still: what is done about that depends on it.
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
