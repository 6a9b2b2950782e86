// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// beOverdue has the pod be without its Job for as long as it may take to end.
func (s *started) beOverdue() {
	s.test.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	since := time.Now().Add(-s.options.stopping() - overdueAllowance)
	if left, ok := s.rests[s.key]; ok {
		s.Expect(left.overdue.since).NotTo(BeZero())
		left.overdue.since = since
		return
	}
	s.Expect(s.runs["1"].overdue.since).NotTo(BeZero())
	s.runs["1"].overdue.since = since
}

func TestARestWhosePodDoesNotGoKeepsItsStackAndNotItsPlace(t *testing.T) {
	woken := &calls{}
	s := start(t, func(o *Options) { o.Ended = woken.ended })
	s.step()
	s.pod(atWork)
	s.claim()
	s.tell(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.Forget("1")).To(Succeed())
	s.wait()
	s.step()
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "it has its time to end")
	woken.list()

	s.beOverdue()
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/other"}))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "nothing is run beside it")
	s.Expect(s.WaitsFor("default", "app")).To(HavePrefix("Waiting for the pod of the last run to end"))
	s.Release("default", "app")
	s.step()
	s.Expect(s.Start(oneRun("2", "other"))).To(Succeed())
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(Equal(1))

	s.pod(failed)
	s.step()
	s.Expect(s.rests).To(BeEmpty())
	s.Expect(woken.list()).To(ContainElement("default/app"))
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "the other one has the place")
	s.Expect(s.slots.Waiting()).To(Equal(1))
}

func TestARunWhosePodDoesNotGoIsInFlightWithoutAPlace(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(atWork)
	s.claim()
	s.step()
	s.Expect(s.runs["1"].overdue.since).To(BeZero(), "it has its Job")
	s.Expect(s.removeJob(t.Context(), s.key)).To(Succeed())
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.beOverdue()
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running), "nobody knows what it does")
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeTrue())

	s.tell(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "its pod goes on")
	s.pod(failed)
	s.step()
	s.Expect(s.rests).To(BeEmpty())
	s.Release("default", "other")
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
}

func TestWhetherAPodIsLeftByItsJob(t *testing.T) {
	ending := aJob(batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue})
	for name, tt := range map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want bool
	}{
		"at work":           {aJob(), aPod(corev1.PodRunning), false},
		"without a Job":     {nil, aPod(corev1.PodRunning), true},
		"not begun":         {nil, aPod(corev1.PodPending), true},
		"the Job has ended": {failedJob("DeadlineExceeded", ""), aPod(corev1.PodRunning), true},
		"the Job ends it":   {ending, aPod(corev1.PodRunning), true},
		"it has ended":      {nil, aPod(corev1.PodFailed), false},
		"no pod":            {nil, nil, false},
		"suspended":         {suspendedJob(), aPod(corev1.PodRunning), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(isLeftByJob(seen{job: tt.job, pods: tt.pods})).To(Equal(tt.want))
		})
	}
}
