// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAResultNamesAnOOMKill(t *testing.T) {
	for name, tt := range map[string]struct {
		ended   run.Result
		kills   int
		outcome run.Outcome
		message string
	}{
		"Pulumi was killed": {run.Result{Outcome: run.Failed, Message: "ended by a signal", Interrupted: true}, 1, run.PodFailed, "; ended by a signal"},
		"no message":        {run.Result{Outcome: run.Failed}, 1, run.PodFailed, "raise spec.workspaceTemplate.spec.resources.limits.memory, which is 512Mi"},
		"it is known": {
			run.Result{Outcome: run.Failed, Message: "out of memory: raise the limit, which is 512Mi"}, 1, run.PodFailed,
			"out of memory: raise the limit, which is 512Mi; the limit is spec.workspaceTemplate.spec.resources.limits.memory",
		},
		"locked":          {run.Result{Outcome: run.Locked, Message: "locked by a"}, 1, run.Locked, "; locked by a"},
		"cancelled":       {run.Result{Outcome: run.Cancelled, Message: "cancelled"}, 1, run.Cancelled, "; cancelled"},
		"succeeded":       {run.Result{Outcome: run.Succeeded}, 1, run.Succeeded, ""},
		"another failure": {run.Result{Outcome: run.Failed, Message: "no such bucket"}, 0, run.Failed, "no such bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ended := explainMemory(tt.ended, cgroup.Memory{Limit: 512 << 20, Kills: tt.kills})
			g.Expect(ended.Outcome).To(Equal(tt.outcome))
			g.Expect(ended.Message).To(HaveSuffix(tt.message))
			g.Expect(ended.Interrupted).To(Equal(tt.ended.Interrupted))
		})
	}
}
