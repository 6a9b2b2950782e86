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

func TestWhereTheRestOfARunStands(t *testing.T) {
	aside := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: mainContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
			{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	}
	told := resulted(run.Result{Outcome: run.Succeeded})
	for name, tt := range map[string]struct {
		secret *corev1.Secret
		job    *batchv1.Job
		pods   []corev1.Pod
		fresh  bool
		after  time.Duration
		want   restState
	}{
		"its pod is about to end":              {told, aJob(), aPod(corev1.PodRunning), false, time.Second, restEnds},
		"it goes on":                           {told, aJob(), aPod(corev1.PodRunning), false, restPatience, restGoesOn},
		"it goes on, and its result is known":  {nil, aJob(), aPod(corev1.PodRunning), false, restPatience, restGoesOn},
		"it was not begun, and is not yet":     {told, aJob(), aPod(corev1.PodPending), false, restPatience, restGoesOn},
		"a side car goes on":                   {nil, aJob(), aPod(corev1.PodRunning, aside), false, time.Second, restGoesOn},
		"a side car, and the result is wanted": {told, aJob(), aPod(corev1.PodRunning, aside), false, time.Second, restEnds},
		"it has ended":                         {told, aJob(), aPod(corev1.PodSucceeded), false, 0, restOver},
		"it has failed":                        {nil, nil, aPod(corev1.PodFailed), false, time.Hour, restOver},
		"it is not seen":                       {told, aJob(), nil, false, 0, restUnknown},
		"there is none, but may be":            {told, aJob(), nil, true, 0, restGoesOn},
		"there will be none":                   {told, failedJob("BackoffLimitExceeded", ""), nil, true, 0, restOver},
		"all is gone":                          {nil, nil, nil, true, 0, restOver},
		"the Job has failed, and its pod ends": {told, failedJob("DeadlineExceeded", ""), aPod(corev1.PodRunning), true, time.Second, restEnds},
	} {
		t.Run(name, func(t *testing.T) {
			s := seen{secret: tt.secret, job: tt.job, pods: tt.pods, fresh: tt.fresh, now: at.Add(tt.after)}
			NewWithT(t).Expect(judgeRest(s, at)).To(Equal(tt.want))
		})
	}
}

func atWork(status *corev1.PodStatus) { status.Phase = corev1.PodRunning }

// wait has the rest of the run be there for long.
func (s *started) wait() {
	s.test.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Expect(s.rests).To(HaveKey(s.key))
	s.rests[s.key].since = time.Now().Add(-restPatience)
}

func TestAPodThatGoesOnAfterItsResultKeepsItsPlace(t *testing.T) {
	woken := &calls{}
	s := goesOn(t, func(o *Options) { o.Ended = woken.ended })
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded), "what it says is of its own Stack alone")
	s.Expect(woken.list()).To(ContainElement("default/app"))
	s.Expect(s.Forget("1")).To(Succeed())
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "nor has its Stack another run beside it")
	s.Release("default", "app")
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.Expect(s.WaitsFor("default", "app")).To(Equal("Waiting for the pod of the last run to end"))
	s.Expect(s.WaitsFor("default", "other")).To(BeEmpty())
	inFlight, waiting := s.Count()
	s.Expect([]int{inFlight, waiting}).To(Equal([]int{1, 1}))
	s.Expect(s.hasJob()).To(BeTrue(), "one that ends by itself does in seconds")

	s.wait()
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "its pod is given its time to end")
	s.Expect(woken.list()).To(BeEmpty())
	s.pod(failed)
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/app", "default/other"}))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.rests).To(BeEmpty())
}

func TestAStackThatIsGoneKeepsThePlaceOfItsPod(t *testing.T) {
	s := goesOn(t)
	s.Abandon("default", "app")
	s.Expect(s.Ended()).To(BeEmpty())
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.pod(failed)
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestAPodWithoutANodeIsToldToTheStackThatWaitsForIt(t *testing.T) {
	woken := &calls{}
	s := goesOn(t, func(o *Options) { o.Ended = woken.ended })
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
	woken.list()
	s.pod(func(status *corev1.PodStatus) { status.Reason = "NodeLost" })
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/app"}))
	s.Expect(s.WaitsFor("default", "app")).To(And(HavePrefix("Waiting for the pod of the last run to end: "), ContainSubstring("delete its Node object")))
}

// leftBehind is a pod that goes on, whose result a controller has taken in that is gone.
func leftBehind(t *testing.T, change ...func(*Options)) *started {
	t.Helper()
	first := goesOn(t, change...)
	first.Expect(first.Forget("1")).To(Succeed())
	return first
}

func TestTheNextControllerEndsAPodThatGoesOn(t *testing.T) {
	s := leftBehind(t).next(recorded())
	s.step()
	s.Expect(s.hasJob()).To(BeTrue(), "it may be about to end")
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(BeZero(), "anybody could make a Job that looks like one of a run")
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
	s.wait()
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.pod(failed)
	s.step()
	s.Expect(s.rests).To(BeEmpty())
}

func TestAJobOfNobodyThatDoesNotGoIsLookedAtOnce(t *testing.T) {
	s := runnerOn(t, newCluster(), recorded())
	suspend := true
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: Name("1"), Labels: map[string]string{RunLabel: "1"}, Finalizers: []string{"example.com/stay"},
	}, Spec: batchv1.JobSpec{Suspend: &suspend}}
	s.Expect(s.api.Create(t.Context(), job)).To(Succeed())
	var listed []string
	s.options.Reader = listing{s.options.Reader, &listed}
	for range 3 {
		again, err := s.tend(t.Context(), s.key)
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(again).To(BeFalse())
		s.Expect(s.rests).To(BeEmpty())
	}
	s.Expect(s.api.deletes).To(Equal(1))
	s.Expect(listed).To(HaveLen(1), "its end is told by an event")
}

func TestTheJobOfAnotherShardIsLeftAlone(t *testing.T) {
	s := leftBehind(t, func(o *Options) { o.Part = "one" }).next(recorded(), func(o *Options) { o.Part = "two" })
	s.step()
	s.Expect(s.rests).To(BeEmpty())
	s.Expect(s.hasJob()).To(BeTrue())
}

func TestAJobWhosePodIsNotThereYetIsEndedWithItsRun(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.tell(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "it may have been made in between")
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestAPodWhoseJobEndsIsNotEndedTwice(t *testing.T) {
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

func TestASecretThatCannotBeRemovedIsRemovedLater(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(atWork)
	s.claim()
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.api.undeletable = errors.New("connection reset")
	s.Expect(s.Forget("1")).To(MatchError(ContainSubstring("connection reset")))
	s.Expect(s.phase()).To(Equal(run.Unknown), "its result is absorbed")
	_, err := s.tend(t.Context(), s.key)
	s.Expect(err).To(MatchError(ContainSubstring("connection reset")), "it is tried again")
	s.Expect(s.Reserve("default", "other")).To(BeTrue(), "nobody waits for that")
	s.api.undeletable = nil
	s.step()
	s.Expect(s.has(&corev1.Secret{})).To(BeFalse())
	s.Expect(s.unremoved).To(BeEmpty())
}
