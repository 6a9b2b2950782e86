// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// ofJob is the owner reference of a run's pod.
func ofJob(id string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: Name(id), UID: types.UID("of-" + id), Controller: ptr.To(true)}}
}

// pod creates the pod of the run, or changes its status.
func (s *started) pod(change func(status *corev1.PodStatus)) {
	s.test.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "pulumi-run-1-x", Labels: map[string]string{RunLabel: "1"},
		Annotations: map[string]string{stackAnnotation: "app"}, OwnerReferences: ofJob("1"),
	}}
	err := s.api.Get(s.test.Context(), client.ObjectKeyFromObject(pod), pod)
	if apierrors.IsNotFound(err) {
		err = s.api.Create(s.test.Context(), pod)
	}
	s.Expect(err).NotTo(HaveOccurred())
	change(&pod.Status)
	s.Expect(s.api.Status().Update(s.test.Context(), pod)).To(Succeed())
}

func failed(status *corev1.PodStatus) { status.Phase = corev1.PodFailed }

func TestAPodThatDiesAfterItsClaim(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(func(status *corev1.PodStatus) { status.Phase = corev1.PodRunning })
	s.claim()
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running))
	s.pod(failed)
	s.step()
	s.Expect(s.ended()).To(And(HaveField("Outcome", run.PodFailed), HaveField("Interrupted", true)))
}

func TestAPodThatDiesBeforeItsClaim(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(failed)
	s.step()
	s.Expect(s.ended()).To(And(HaveField("Outcome", run.PodFailed), HaveField("Interrupted", false)))
	s.Expect(s.secret().Data).To(HaveKey(exchange.ResultKey), "no other pod begins it")
	s.Expect(s.hasJob()).To(BeTrue(), "it ends by itself, and its log is kept")
	s.Expect(s.lingers()).To(BeFalse())
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
}

func TestWhetherAJobEndsByItself(t *testing.T) {
	for name, tt := range map[string]struct {
		s    seen
		want bool
	}{
		"its pod has ended":                {seen{job: aJob(), pods: aPod(corev1.PodFailed)}, true},
		"its pod has not ended":            {seen{job: aJob(), pods: aPod(corev1.PodPending)}, false},
		"one of its pods is running":       {seen{job: aJob(), pods: append(aPod(corev1.PodFailed), aPod(corev1.PodRunning)...)}, false},
		"it has no pod":                    {seen{job: aJob()}, false},
		"suspended: another pod on resume": {seen{job: suspendedJob(), pods: aPod(corev1.PodFailed)}, false},
		"its pod was deleted":              {seen{job: aJob(), pods: aPod(corev1.PodFailed, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: at} })}, false},
		"it is gone":                       {seen{pods: aPod(corev1.PodFailed)}, false},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(endsByItself(tt.s)).To(Equal(tt.want)) })
	}
}

func TestAStaleCacheEndsNoRun(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.pod(failed)
	// The cache has the end of the pod, but not yet the result it wrote before.
	behind := newCluster()
	s.options.Cache = cacheOf{Reader: behind, watched: &behind.watched}
	secret := s.secret()
	secret.ResourceVersion = ""
	s.Expect(behind.Create(t.Context(), secret)).To(Succeed())
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
}

func TestOnlyAnUnclaimedRunIsGivenUp(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(failed)
	claimed := false
	s.api.patching = func() {
		if !claimed {
			claimed = true
			s.claim()
		}
	}
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(apierrors.IsConflict(errors.Unwrap(err))).To(BeTrue(), "%v", err)
	s.Expect(s.phase()).To(Equal(run.Running))
	s.step()
	s.Expect(s.ended().Interrupted).To(BeTrue(), "it was started, and its pod is dead")
}

func TestAFailedRequestIsRetriedAndReported(t *testing.T) {
	s := start(t)
	s.api.fails = func(client.Object) error { return errors.New("connection refused") }
	_, err := s.Reconcile(t.Context(), s.key)
	s.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(ContainSubstring("failed to create Secret default/pulumi-run-1: connection refused"))
	s.api.fails = nil
	_, err = s.Reconcile(t.Context(), s.key)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.hasJob()).To(BeTrue())
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(BeEmpty())
	s.Expect(s.runs[s.key].failing).To(BeFalse())
}

func TestWhyAJobHasNoPodIsReported(t *testing.T) {
	s := start(t)
	s.step()
	job := &batchv1.Job{}
	s.Expect(s.api.Get(t.Context(), s.name(), job)).To(Succeed())
	job.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Minute))
	s.Expect(s.api.Update(t.Context(), job)).To(Succeed())
	s.api.tried = apierrors.NewForbidden(corev1.Resource("pods"), "x", errors.New("exceeded quota: small"))
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running), "the cause may pass")
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(And(HavePrefix("Job pulumi-run-1 waits for its pod: "), ContainSubstring("exceeded quota: small")))
	s.api.tried = errors.New("connection refused")
	s.step()
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(Equal("Job pulumi-run-1 waits for its pod"))
	s.api.tried = nil
	s.step()
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(Equal("Job pulumi-run-1 waits for its pod"))
}

func TestASidecarDoesNotOutliveTheRun(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	of := func(ended *corev1.ContainerStateTerminated) func(*corev1.PodStatus) {
		return func(status *corev1.PodStatus) {
			status.Phase = corev1.PodRunning
			status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: mainContainer, State: corev1.ContainerState{Terminated: ended}},
				{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}
		}
	}
	s.pod(of(nil))
	s.writeResult(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.step()
	s.Expect(s.hasJob()).To(BeTrue(), "its container has not ended yet")
	s.pod(of(&corev1.ContainerStateTerminated{}))
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
}

func TestAResultDatedInTheFutureIsNotWaitedForForever(t *testing.T) {
	s := claimedRun(t)
	s.writeResult(run.Result{Outcome: run.Cancelled, EndedAt: time.Now().Add(time.Hour)})
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running), "the reason it was stopped may still appear")
	s.runs[s.key].resultSeenAt = time.Now().Add(-reasonPatience)
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.PodFailed))
}

func TestManyChangesQueueARunOnce(t *testing.T) {
	s := claimedRun(t)
	for s.queue.Len() > 0 { // drain earlier work
		k, _ := s.queue.Get()
		s.queue.Done(k)
	}
	for range 100 {
		s.handler().Update(t.Context(), event.UpdateEvent{ObjectNew: s.secret()}, s.queue)
	}
	s.Eventually(s.queue.Len).Should(Equal(1))
	s.Consistently(s.queue.Len).WithTimeout(2 * lookInterval).Should(Equal(1))
}

func TestASidecarDoesNotOutliveAKilledRun(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.pod(func(status *corev1.PodStatus) {
		status.Phase = corev1.PodRunning
		status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: mainContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}},
			{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	})
	s.step()
	s.Expect(s.ended().Interrupted).To(BeTrue())
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "its pod has not ended")
	s.pod(failed)
	s.step()
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
}

// TestManyRunsAtATime mixes failed requests, lost responses and concurrent callers.
func TestManyRunsAtATime(t *testing.T) {
	t.Parallel() // it waits for retries
	s := runnerOn(t, newCluster(), func(o *Options) { o.Concurrent = 3 })
	var creations atomic.Int64
	every := func(nth int64) func(client.Object) error {
		return func(client.Object) error {
			if creations.Add(1)%nth == 0 {
				return errors.New("connection reset")
			}
			return nil
		}
	}
	s.api.fails, s.api.lost = every(7), every(11)
	ctx, end := context.WithCancel(t.Context())
	var running, stacks sync.WaitGroup
	running.Go(func() { s.Expect(s.Run(ctx)).To(Succeed()) })
	var most, now atomic.Int64
	for i := range 8 {
		stacks.Go(func() {
			stack, id := fmt.Sprintf("app-%d", i), fmt.Sprintf("run-%d", i)
			s.Eventually(func() bool { return s.Reserve("default", stack) }).Should(BeTrue())
			s.Expect(s.Start(oneRun(id, stack))).To(Succeed())
			most.Store(max(most.Load(), now.Add(1)))
			s.Eventually(func() error { return s.doInPod(id, &run.Result{Outcome: run.Succeeded}) }).Should(Succeed())
			now.Add(-1)
			s.endPod(id) // frees its slot
			s.Eventually(func() run.Phase { phase, _ := s.Look(run.Ref{ID: id, Namespace: "default"}); return phase }).Should(Equal(run.Ended))
			s.Expect(s.Forget(ref(id))).To(Succeed())
		})
	}
	stacks.Wait()
	s.Eventually(func() []int { inFlight, waiting := s.Count(); return []int{inFlight, waiting} }).Should(Equal([]int{0, 0}))
	s.Expect(most.Load()).To(BeNumerically("<=", 3))
	s.Expect(s.Ended()).To(BeEmpty())
	end()
	running.Wait()
	secrets := &corev1.SecretList{}
	s.Expect(s.api.List(t.Context(), secrets)).To(Succeed())
	s.Expect(secrets.Items).To(BeEmpty())
}

// doInPod acts as the pod of a run, once its Job exists: it claims the run, and writes its
// result unless that is nil.
func (s *started) doInPod(id string, ended *run.Result) error {
	name := client.ObjectKey{Namespace: "default", Name: Name(id)}
	secret := &corev1.Secret{}
	if err := errors.Join(s.api.Get(s.test.Context(), name, &batchv1.Job{}), s.api.Get(s.test.Context(), name, secret)); err != nil {
		return err
	}
	secret.Data = map[string][]byte{exchange.ClaimKey: []byte("{}")}
	if ended != nil {
		data, err := exchange.EncodeResult(run.Update, *ended)
		if err != nil {
			return err
		}
		secret.Data[exchange.ResultKey] = data
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name.Name + "-x", Labels: map[string]string{RunLabel: id}, OwnerReferences: ofJob(id)},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if err := s.api.WithWatch.Create(s.test.Context(), pod); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	return s.api.Update(s.test.Context(), secret)
}

func (s *started) endPod(id string) {
	pod := &corev1.Pod{}
	s.Expect(s.api.Get(s.test.Context(), client.ObjectKey{Namespace: "default", Name: Name(id) + "-x"}, pod)).To(Succeed())
	pod.Status.Phase = corev1.PodSucceeded
	s.Expect(s.api.Status().Update(s.test.Context(), pod)).To(Succeed())
	s.api.watched.changed(pod, nil)
}

func TestAJobSuspendedInMidRunEndsTheRun(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	job := &batchv1.Job{}
	s.Expect(s.api.Get(t.Context(), s.name(), job)).To(Succeed())
	job.Spec.Suspend = ptr.To(true)
	s.Expect(s.api.Update(t.Context(), job)).To(Succeed())
	s.step()
	s.Expect(s.ended().Interrupted).To(BeTrue())
	s.Expect(s.hasJob()).To(BeFalse(), "nobody resumes it")
	s.step()
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}
