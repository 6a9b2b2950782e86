// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestWhatRemainsOfAnEndedRun(t *testing.T) {
	aside := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: mainContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
			{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	}
	reported := resulted(run.Result{Outcome: run.Succeeded})
	for name, tt := range map[string]struct {
		secret *corev1.Secret
		job    *batchv1.Job
		pods   []corev1.Pod
		fresh  bool
		after  time.Duration
		want   lingeringState
	}{
		"pod about to end":                     {reported, aJob(), aPod(corev1.PodRunning), false, time.Second, podEnding},
		"pod still running":                    {reported, aJob(), aPod(corev1.PodRunning), false, lingerPatience, podRunning},
		"pod still running, result absorbed":   {nil, aJob(), aPod(corev1.PodRunning), false, lingerPatience, podRunning},
		"pod still pending":                    {reported, aJob(), aPod(corev1.PodPending), false, lingerPatience, podRunning},
		"sidecar running, result absorbed":     {nil, aJob(), aPod(corev1.PodRunning, aside), false, time.Second, podRunning},
		"sidecar running, result not absorbed": {reported, aJob(), aPod(corev1.PodRunning, aside), false, time.Second, podEnding},
		"pod succeeded":                        {reported, aJob(), aPod(corev1.PodSucceeded), false, 0, podGone},
		"pod failed":                           {nil, nil, aPod(corev1.PodFailed), false, time.Hour, podGone},
		"no pod in the cache":                  {reported, aJob(), nil, false, 0, podUnknown},
		"no pod yet":                           {reported, aJob(), nil, true, 0, podRunning},
		"no pod, Job failed":                   {reported, failedJob("BackoffLimitExceeded", ""), nil, true, 0, podGone},
		"nothing left":                         {nil, nil, nil, true, 0, podGone},
		"Job failed, pod about to end":         {reported, failedJob("DeadlineExceeded", ""), aPod(corev1.PodRunning), true, time.Second, podEnding},
	} {
		t.Run(name, func(t *testing.T) {
			s := seen{secret: tt.secret, job: tt.job, pods: tt.pods, fresh: tt.fresh, now: at.Add(tt.after)}
			NewWithT(t).Expect(stateOfLingering(s, at)).To(Equal(tt.want))
		})
	}
}

func atWork(status *corev1.PodStatus) { status.Phase = corev1.PodRunning }

// lingers reports whether the pod of an ended run may keep running.
func (s *started) lingers() bool { return s.get(s.key).lingering != nil }

// wait backdates the end of the run by lingerPatience.
func (s *started) wait() {
	s.test.Helper()
	s.Expect(s.lingers()).To(BeTrue())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[s.key].lingering.since = time.Now().Add(-lingerPatience)
}

func TestAPodThatOutlivesItsResultKeepsItsSlot(t *testing.T) {
	woken := &calls{}
	s := goesOn(t, func(o *Options) { o.Wake = woken.ended })
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded), "the result matters to its own Stack only")
	s.Expect(woken.list()).To(ContainElement("default/app"))
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "its Stack gets no second run meanwhile")
	s.Release("default", "app")
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.Expect(s.WaitsFor("default", "app")).To(Equal("Waiting for the pod of the last run to end"))
	s.Expect(s.WaitsFor("default", "other")).To(BeEmpty())
	inFlight, waiting := s.Count()
	s.Expect([]int{inFlight, waiting}).To(Equal([]int{1, 1}))
	s.Expect(s.hasJob()).To(BeTrue(), "a pod that ends by itself does so in seconds")

	s.wait()
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "its pod gets its grace period")
	s.Expect(woken.list()).To(BeEmpty())
	s.pod(failed)
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/app", "default/other"}))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.lingers()).To(BeFalse())
}

func TestAPodOfADeletedStackKeepsItsSlot(t *testing.T) {
	s := goesOn(t)
	s.Release("default", "app")
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.Expect(s.Ended()).To(BeEmpty())
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.pod(failed)
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestAStackThatWaitsForAnUnschedulablePodIsWoken(t *testing.T) {
	woken := &calls{}
	s := goesOn(t, func(o *Options) { o.Wake = woken.ended })
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
	woken.list()
	s.pod(func(status *corev1.PodStatus) { status.Reason = "NodeLost" })
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/app"}))
	s.Expect(s.WaitsFor("default", "app")).To(And(HavePrefix("Waiting for the pod of the last run to end: "), ContainSubstring("delete its Node object")))
}

// leftBehind is a running pod whose result was absorbed by a previous controller.
func leftBehind(t *testing.T, change ...func(*Options)) *started {
	t.Helper()
	first := goesOn(t, change...)
	first.Expect(first.Forget(ref("1"))).To(Succeed())
	return first
}

func TestTheNextControllerEndsALeftoverPod(t *testing.T) {
	s := leftBehind(t).next(recorded())
	s.step()
	s.Expect(s.hasJob()).To(BeTrue(), "it may be about to end")
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(BeZero(), "anybody could create a Job that looks like one of a run")
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
	s.wait()
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.pod(failed)
	s.step()
	s.Expect(s.lingers()).To(BeFalse())
}

func TestAnOrphanedJobThatStaysIsLookedAtOnce(t *testing.T) {
	s := runnerOn(t, newCluster(), recorded())
	suspend := true
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: Name("1"), Labels: map[string]string{RunLabel: "1"}, Finalizers: []string{"example.com/stay"},
	}, Spec: batchv1.JobSpec{Suspend: &suspend}}
	s.Expect(s.api.Create(t.Context(), job)).To(Succeed())
	var listed []string
	s.options.Reader = listing{s.options.Reader, &listed}
	for range 3 {
		again, err := s.reconcile(t.Context(), s.key)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(again).To(BeFalse())
		s.Expect(s.lingers()).To(BeFalse())
	}
	s.Expect(s.api.deletes).To(Equal(1))
	s.Expect(listed).To(HaveLen(1), "a watch event reports its end")
}

func TestAJobOfAnotherShardIsLeftAlone(t *testing.T) {
	s := leftBehind(t, func(o *Options) { o.Part = "one" }).next(recorded(), func(o *Options) { o.Part = "two" })
	s.step()
	s.Expect(s.lingers()).To(BeFalse())
	s.Expect(s.hasJob()).To(BeTrue())
}

func TestAJobWithoutAPodYetEndsWithItsRun(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.writeResult(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "it may have been created meanwhile")
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestAPodOfADeletedJobIsNotDeletedAgain(t *testing.T) {
	s := leftBehind(t)
	job := &batchv1.Job{}
	s.Expect(s.api.Get(t.Context(), s.name(), job)).To(Succeed())
	job.Finalizers = []string{"foregroundDeletion"}
	s.Expect(s.api.Update(t.Context(), job)).To(Succeed())
	s.wait()
	for range 3 {
		s.step()
		s.Expect(s.api.Get(t.Context(), s.name(), job)).To(Succeed())
		s.Expect(job.DeletionTimestamp).To(Not(Equal((*metav1.Time)(nil))))
	}
	s.Expect(s.api.deletes).To(Equal(2), "the Secret and the Job")
}

func TestDeletingASecretIsRetried(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(atWork)
	s.claim()
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.api.undeletable = errors.New("connection reset")
	s.Expect(s.Forget(ref("1"))).To(MatchError(ContainSubstring("connection reset")))
	s.Expect(s.phase()).To(Equal(run.Unknown), "its result is absorbed")
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(MatchError(ContainSubstring("connection reset")), "it is tried again")
	s.Expect(s.Reserve("default", "other")).To(BeTrue(), "nothing waits for it")
	s.api.undeletable = nil
	s.step()
	s.Expect(s.has(&corev1.Secret{})).To(BeFalse())
	s.Expect(s.runs[s.key].unremoved).To(BeFalse())
}
