// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAWebhookHangingOnCreationsBlocksNoOtherRun(t *testing.T) {
	s := runnerOn(t, newCluster(), func(o *Options) { o.Concurrent = workers + 1 })
	answer := make(chan struct{})
	s.api.fails = func(object client.Object) error {
		if object.GetNamespace() == "hangs" {
			<-answer
		}
		return nil
	}
	for i := range workers {
		s.begin("hangs", fmt.Sprintf("h%d", i))
	}
	end := s.running()
	s.Eventually(func() int { return len(s.writers) }).Should(Equal(workers))
	s.begin("default", "1")
	s.Eventually(s.hasJob).Should(BeTrue())
	close(answer)
	end()
	s.Expect(s.writers).To(BeEmpty())
}

// begin starts a run of a Stack of its own.
func (s *started) begin(namespace, id string) {
	s.test.Helper()
	s.Expect(s.Reserve(namespace, "app-"+id)).To(BeTrue())
	todo := oneRun(id, "app-"+id)
	todo.Namespace = namespace
	s.Expect(s.Start(todo)).To(Succeed())
}

func TestAWebhookHangingOnPatchesBlocksNoOtherRun(t *testing.T) {
	for name, tt := range map[string]struct {
		claimed bool
		end     func(s *started, id string)
	}{
		"a withdrawal":                {false, func(s *started, id string) { s.Withdraw(ref(id)) }},
		"a cancel before the claim":   {false, func(s *started, id string) { s.Expect(s.Cancel(ref(id), false)).To(Succeed()) }},
		"a cancel of a run in flight": {true, func(s *started, id string) { s.Expect(s.Cancel(ref(id), true)).To(Succeed()) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := runnerOn(t, newCluster(), func(o *Options) { o.Concurrent = workers + 1 })
			stop := s.running()
			ids := s.createdRuns(workers)
			if tt.claimed {
				s.claimed(ids...)
			}
			answer := s.api.hang()
			for _, id := range ids {
				tt.end(s, id)
			}
			s.Eventually(func() int { return len(s.writers) }).Should(Equal(workers))
			s.begin("default", "1")
			s.Eventually(s.hasJob).Should(BeTrue())
			close(answer)
			stop()
			s.Expect(s.writers).To(BeEmpty())
		})
	}
}

// createdRuns returns the IDs of n runs whose objects exist and that no pod has claimed.
func (s *started) createdRuns(n int) (ids []string) {
	s.test.Helper()
	for i := range n {
		ids = append(ids, fmt.Sprintf("h%d", i))
		s.begin("default", ids[i])
	}
	for _, id := range ids {
		s.Eventually(func() bool { return s.Report(ref(id)).Withdrawable }).Should(BeTrue())
	}
	return ids
}

// claimed has pods claim these runs.
func (s *started) claimed(ids ...string) {
	s.test.Helper()
	for _, id := range ids {
		s.Expect(s.doInPod(id, nil)).To(Succeed())
		s.Eventually(func() bool { return s.Report(ref(id)).Withdrawable }).Should(BeFalse())
	}
}

func TestMoreHangingRunsThanWritersBlockNoClaimedRun(t *testing.T) {
	s := runnerOn(t, newCluster(), func(o *Options) { o.Concurrent = writers + workers + 1 })
	stop := s.running()
	ids := s.createdRuns(writers + workers)
	s.begin("default", "1")
	s.Eventually(func() bool { return s.Report(ref("1")).Withdrawable }).Should(BeTrue())
	s.claimed("1")
	answer := s.api.hang()
	for _, id := range ids {
		s.Withdraw(ref(id))
	}
	s.Eventually(func() int { return len(s.writers) }).Should(Equal(writers))
	s.Expect(s.doInPod("1", &run.Result{Outcome: run.Succeeded})).To(Succeed())
	s.endPod("1")
	s.Eventually(s.phase).Should(Equal(run.Ended))
	s.Expect(s.writers).To(HaveLen(writers))
	close(answer)
	for _, id := range ids {
		s.Eventually(func() run.Phase { phase, _ := s.Look(ref(id)); return phase }).Should(Equal(run.Ended), "it waits for a writer")
	}
	stop()
	s.Expect(s.writers).To(BeEmpty())
}

func TestShutdownDoesNotWaitForAHangingWebhook(t *testing.T) {
	s := runnerOn(t, newCluster())
	stop := s.running()
	ids := s.createdRuns(1)
	s.api.hang()
	s.Withdraw(ref(ids[0]))
	s.Eventually(func() int { return len(s.writers) }).Should(Equal(1))
	s.Expect(s.Shutdown(t.Context())).To(Succeed())
	stop()
	s.Expect(s.writers).To(BeEmpty())
	phase, _ := s.Look(ref(ids[0]))
	s.Expect(phase).To(Equal(run.Running), "the next controller finds it")
}
