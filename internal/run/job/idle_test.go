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

// beIdle backdates it beyond the time any slot is kept.
func (s *started) beIdle() {
	s.test.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Expect(s.runs[s.key].slot.since).NotTo(BeZero())
	s.runs[s.key].slot.since = time.Now().Add(-s.options.stopping() - idleAllowance)
}

func TestALingeringPodBlocksItsStackButKeepsNoSlot(t *testing.T) {
	woken := &calls{}
	s := leftBehind(t, func(o *Options) { o.Wake = woken.ended })
	s.wait()
	s.step()
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "it gets its grace period")
	woken.list()

	s.beIdle()
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
	s.Expect(s.lingers()).To(BeFalse())
	s.Expect(woken.list()).To(ContainElement("default/app"))
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "the other one has the slot")
	s.Expect(s.slots.Waiting()).To(Equal(1))
}

func TestARunWhosePodDoesNotTerminateLosesItsSlot(t *testing.T) {
	s := claimedRun(t)
	s.Expect(s.runs[s.key].slot.since).To(BeZero(), "it has its Job")
	s.Expect(s.removeJob(t.Context(), s.key)).To(Succeed())
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.beIdle()
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running), "its state is unknown")
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeTrue())

	s.writeResult(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "its pod continues")
	s.pod(failed)
	s.step()
	s.Expect(s.lingers()).To(BeFalse())
	s.Release("default", "other")
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
}

func TestARunWhosePodDoesNotStartLosesItsSlot(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(func(status *corev1.PodStatus) { status.Phase = corev1.PodPending })
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "most start in seconds")
	s.beIdle()
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeTrue(), "others need not wait for its node, or its volume")
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
	s.Expect(s.phase()).To(Equal(run.Running), "it may start yet")

	s.claim()
	s.step()
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(Equal(1), "it counts again")
	s.writeResult(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
}

// suspend sets spec.suspend of the Job, as a queue does.
func (s *started) suspend(is bool) {
	s.test.Helper()
	job := &batchv1.Job{}
	s.Expect(s.api.Get(s.test.Context(), s.name(), job)).To(Succeed())
	job.Spec.Suspend = &is
	s.Expect(s.api.Update(s.test.Context(), job)).To(Succeed())
}

func TestASuspendedJobLosesItsSlot(t *testing.T) {
	woken := &calls{}
	s := start(t, func(o *Options) { o.Wake = woken.ended })
	s.step()
	s.suspend(true)
	s.step()
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(HavePrefix("Job pulumi-run-1 is suspended"))
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "most are for less than a minute")
	woken.list()
	s.beIdle()
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/other"}))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
	s.Expect(s.phase()).To(Equal(run.Running), "whoever suspended it may resume it")
	s.step()
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(BeZero())
	s.Release("default", "other")

	s.suspend(false)
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "it has its slot again")
	s.pod(atWork)
	s.claim()
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "the other one has the slot")
}

// suspendedForLong is an unclaimed run that gave up its slot because its Job is suspended.
func suspendedForLong(t *testing.T) *started {
	t.Helper()
	s := start(t)
	s.step()
	s.suspend(true)
	s.step()
	s.beIdle()
	s.step()
	return s
}

func TestAResumedJobCountsEvenWithoutAFreeSlot(t *testing.T) {
	s := suspendedForLong(t)
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.Start(oneRun("2", "other"))).To(Succeed())
	s.suspend(false)
	s.step()
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(Equal(2))
	s.Expect(s.Reserve("default", "third")).To(BeFalse())

	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Cancelled))
	s.Expect(s.Reserve("default", "third")).To(BeFalse(), "the other run has the only slot")
}

func TestASuspendedJobWithoutASlotCanBeCancelled(t *testing.T) {
	s := suspendedForLong(t)
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.lingers()).To(BeFalse())
}

func TestHowLongARunMayKeepItsSlot(t *testing.T) {
	r := start(t)
	ending := aJob(batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue})
	for name, tt := range map[string]struct {
		secret *corev1.Secret
		job    *batchv1.Job
		pods   []corev1.Pod
		want   time.Duration // 0 means without limit
		why    idleCause
	}{
		"running":                 {claimed(), aJob(), aPod(corev1.PodRunning), 0, notIdle},
		"running, no Secret":      {nil, aJob(), aPod(corev1.PodRunning), 0, notIdle},
		"waiting for its pod":     {aSecret(), aJob(), nil, 10 * time.Minute, notStartedYet},
		"pod does not start":      {aSecret(), aJob(), aPod(corev1.PodPending), 10 * time.Minute, notStartedYet},
		"Job is deleting its pod": {claimed(), ending, aPod(corev1.PodRunning), r.options.stopping() + time.Minute, leftByJob},
		"suspended":               {aSecret(), suspendedJob(), nil, time.Minute, jobSuspended},
		"suspended, pod running":  {claimed(), suspendedJob(), aPod(corev1.PodRunning), 0, notIdle},
		"suspended, pod ended":    {claimed(), suspendedJob(), aPod(corev1.PodFailed), time.Minute, jobSuspended},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			most, why := r.idleFor(seen{secret: tt.secret, job: tt.job, pods: tt.pods})
			g.Expect(why).To(Equal(tt.why))
			g.Expect(most).To(Equal(tt.want))
		})
	}
}

func TestWhenNothingOfARunIsActive(t *testing.T) {
	for name, tt := range map[string]struct {
		s    seen
		want bool
	}{
		"only the Secret":                  {seen{fresh: true}, true},
		"only a cached read":               {seen{}, false},
		"the Job has failed":               {seen{fresh: true, job: failedJob("DeadlineExceeded", ""), pods: aPod(corev1.PodFailed)}, true},
		"the Job has failed, its pod runs": {seen{fresh: true, job: failedJob("DeadlineExceeded", ""), pods: aPod(corev1.PodRunning)}, false},
		"a Job that may create a pod":      {seen{fresh: true, job: aJob()}, false},
		"a suspended Job":                  {seen{fresh: true, job: suspendedJob()}, false},
		"a pod without a Job":              {seen{fresh: true, pods: aPod(corev1.PodPending)}, false},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(isDone(tt.s)).To(Equal(tt.want)) })
	}
}

func TestWhetherAPodHasOutlivedItsJob(t *testing.T) {
	ending := aJob(batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue})
	for name, tt := range map[string]struct {
		job  *batchv1.Job
		pods []corev1.Pod
		want bool
	}{
		"running":                  {aJob(), aPod(corev1.PodRunning), false},
		"without a Job":            {nil, aPod(corev1.PodRunning), true},
		"pending":                  {nil, aPod(corev1.PodPending), true},
		"the Job has ended":        {failedJob("DeadlineExceeded", ""), aPod(corev1.PodRunning), true},
		"the Job is being deleted": {ending, aPod(corev1.PodRunning), true},
		"ended":                    {nil, aPod(corev1.PodFailed), false},
		"no pod":                   {nil, nil, false},
		"suspended":                {suspendedJob(), aPod(corev1.PodRunning), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(isLeftByJob(seen{job: tt.job, pods: tt.pods})).To(Equal(tt.want))
		})
	}
}
