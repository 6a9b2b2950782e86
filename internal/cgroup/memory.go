// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup reads what the kernel says about the resources of this container.
package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// dir is where a container sees its own cgroups.
const dir = "/sys/fs/cgroup"

// Memory is the memory of a container.
type Memory struct {
	// Limit is how many bytes its processes may use, 0 if there is no limit or it is
	// unknown.
	Limit int64
	// Kills is how many of its processes the kernel has killed for exceeding the limit. If
	// the node kills the whole container instead, nobody is left to ask, and the node
	// reports it in the status of the pod. 0 may also mean that the number is unknown.
	Kills int
}

// ReadMemory returns the memory of this container.
func ReadMemory() Memory { return memoryIn(dir) }

func memoryIn(dir string) Memory { return Memory{Limit: limitIn(dir), Kills: killsIn(dir)} }

// limitIn reads the files of cgroup v2, and of v1, which has a huge number for no limit.
func limitIn(dir string) int64 {
	const none = 1 << 60
	for _, name := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 && limit < none {
			return limit
		}
	}
	return 0
}

func killsIn(dir string) int {
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
