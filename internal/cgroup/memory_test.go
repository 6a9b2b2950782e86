// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheMemoryOfAContainer(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string
		want       Memory
	}{
		"kills in cgroup v2":     {"memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n", Memory{Kills: 2}},
		"kills in cgroup v1":     {"memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", Memory{Kills: 3}},
		"no kill":                {"memory.events", "oom_kill 0\n", Memory{}},
		"an old kernel":          {"memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n", Memory{}},
		"no memory controller":   {"pids.events", "max 0\n", Memory{}},
		"not a number":           {"memory.events", "oom_kill many\n", Memory{}},
		"a limit in cgroup v2":   {"memory.max", "2147483648\n", Memory{Limit: 2 << 30}},
		"no limit in cgroup v2":  {"memory.max", "max\n", Memory{}},
		"a limit in cgroup v1":   {"memory/memory.limit_in_bytes", "536870912\n", Memory{Limit: 512 << 20}},
		"no limit in cgroup v1":  {"memory/memory.limit_in_bytes", "9223372036854771712\n", Memory{}},
		"a limit that is absurd": {"memory.max", "-1\n", Memory{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			path := filepath.Join(dir, tt.file)
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(path, []byte(tt.text), 0o600)).To(Succeed())
			g.Expect(memoryIn(dir)).To(Equal(tt.want))
		})
	}
}
