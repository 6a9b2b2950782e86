// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestOOMKillsAreCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string
		want       int
	}{
		"cgroup v2":            {"memory.events", "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n", 2},
		"cgroup v1":            {"memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", 3},
		"no kill":              {"memory.events", "oom_kill 0\n", 0},
		"an old kernel":        {"memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n", 0},
		"no memory controller": {"pids.events", "max 0\n", 0},
		"not a number":         {"memory.events", "oom_kill many\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			path := filepath.Join(dir, tt.file)
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(path, []byte(tt.text), 0o600)).To(Succeed())
			g.Expect(oomKillsIn(dir)).To(Equal(tt.want))
		})
	}
}

func TestAResultNamesAnOOMKill(t *testing.T) {
	for name, tt := range map[string]struct {
		ended   run.Result
		kills   int
		outcome run.Outcome
		message string
	}{
		"Pulumi was killed": {run.Result{Outcome: run.Failed, Message: "ended by a signal", Interrupted: true}, 1, run.PodFailed, "; ended by a signal"},
		"no message":        {run.Result{Outcome: run.Failed}, 1, run.PodFailed, "limits.memory"},
		"locked":            {run.Result{Outcome: run.Locked, Message: "locked by a"}, 1, run.Locked, "; locked by a"},
		"cancelled":         {run.Result{Outcome: run.Cancelled, Message: "cancelled"}, 1, run.Cancelled, "; cancelled"},
		"succeeded":         {run.Result{Outcome: run.Succeeded}, 1, run.Succeeded, ""},
		"another failure":   {run.Result{Outcome: run.Failed, Message: "no such bucket"}, 0, run.Failed, "no such bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ended := toldOfMemory(tt.ended, tt.kills)
			g.Expect(ended.Outcome).To(Equal(tt.outcome))
			g.Expect(ended.Message).To(HaveSuffix(tt.message))
			g.Expect(ended.Interrupted).To(Equal(tt.ended.Interrupted))
		})
	}
}
