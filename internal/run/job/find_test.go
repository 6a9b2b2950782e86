// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// recorded stands in for the status of the Stacks.
func recorded(all ...run.Ref) func(*Options) {
	return func(o *Options) {
		o.Recorded = func(_ context.Context, found run.Ref) (run.Recorded, error) {
			return run.Recorded{InFlight: slices.Contains(all, found)}, nil
		}
	}
}

var runOfApp = run.Ref{ID: "1", Namespace: "default", Name: "app"}

func TestTheNextControllerFindsARunInFlight(t *testing.T) {
	first := start(t)
	first.step()
	first.claim()
	s := first.next(recorded(runOfApp))
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "the run of the previous controller has the only slot")
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "it is in flight already")
	inFlight, waiting := s.Count()
	s.Expect([]int{inFlight, waiting}).To(Equal([]int{1, 1}))
	first.write(run.Result{Outcome: run.Succeeded, Changes: run.Changes{Created: 3}})
	s.step()
	s.Expect(s.ended()).To(HaveField("Changes.Created", 3))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestTheNextControllerFindsARunningPodWithoutJobAndSecret(t *testing.T) {
	for name, cached := range map[string]bool{"in its cache": true, "by asking": false} {
		t.Run(name, func(t *testing.T) {
			first := start(t)
			first.step()
			first.pod(atWork)
			first.claim()
			first.Expect(first.api.Delete(t.Context(), first.secret())).To(Succeed())
			first.Expect(first.Cancel(ref("1"), false)).To(Succeed())
			first.step()
			first.Expect(first.hasJob()).To(BeFalse())
			first.Expect(first.phase()).To(Equal(run.Running))

			empty := newCluster()
			s := first.next(recorded(runOfApp), func(o *Options) {
				if !cached {
					o.Cache = cacheOf{Reader: empty, watched: &empty.watched}
				}
			})
			s.Expect(s.phase()).To(Equal(run.Running))
			s.Expect(s.Reserve("default", "other")).To(BeFalse())
			if !cached {
				return
			}
			s.step()
			s.Expect(s.Report(ref("1")).Progress.Waiting).To(Equal("Secret of the run was deleted, so the run cannot report its result"))
			s.pod(failed)
			s.step()
			s.Expect(s.ended()).To(And(HaveField("Outcome", run.PodFailed), HaveField("Interrupted", true)))
			s.Expect(s.Forget(ref("1"))).To(Succeed())
			s.step()
			s.Expect(s.phase()).To(Equal(run.Unknown))
			s.Expect(s.Reserve("default", "other")).To(BeTrue())
			s.Expect(s.runs).To(BeEmpty())
		})
	}
}

func TestTheNextControllerFindsAnEndedRun(t *testing.T) {
	first := start(t)
	first.step()
	first.claim()
	first.write(run.Result{Outcome: run.Failed, Message: "no"})
	s := first.next(recorded(runOfApp))
	s.Expect(s.Ended()).To(BeEmpty(), "nobody has asked yet")
	s.Expect(s.ended().Message).To(Equal("no"))
	s.Expect(s.Ended()).To(ConsistOf(runOfApp))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.Expect(s.has(&corev1.Secret{})).To(BeFalse())
	s.Expect(s.phase()).To(Equal(run.Unknown))
}

func TestAMissingRunIsUnknownUnlessTheAPIFails(t *testing.T) {
	s := runnerOn(t, newCluster())
	s.Expect(s.phase()).To(Equal(run.Unknown))
	s.api.unreadable = errors.New("connection refused")
	s.Expect(s.phase()).To(Equal(run.Running), "no recovery of a run that may be in flight")
	phase, _ := s.Look(run.Ref{ID: "no/name", Namespace: "default"})
	s.Expect(phase).To(Equal(run.Unknown))
}

func TestARunIsLookedUpInTheNamespaceOfItsStack(t *testing.T) {
	first := start(t)
	first.step()
	empty := newCluster()
	s := first.next(recorded(runOfApp), func(o *Options) { o.Cache = cacheOf{Reader: empty, watched: &empty.watched} })
	phase, _ := s.Look(run.Ref{ID: "1", Namespace: "elsewhere"})
	s.Expect(phase).To(Equal(run.Unknown))
	s.Expect(s.phase()).To(Equal(run.Running))
}

func TestWhichPodsBelongToARun(t *testing.T) {
	other := []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "pulumi-run-2", Controller: ptr.To(true)}}
	set := []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "pulumi-run-1", Controller: ptr.To(true)}}
	byJob := map[string]string{batchv1.JobNameLabel: "pulumi-run-1"}
	const claim = `{"Pod":"a","UID":"u-1"}`
	for name, tt := range map[string]struct {
		pod    metav1.ObjectMeta
		secret *corev1.Secret
		want   bool
	}{
		"owned by its Job":                     {metav1.ObjectMeta{OwnerReferences: ofJob("1")}, aSecret(), true},
		"owned by its Job, claimed by another": {metav1.ObjectMeta{OwnerReferences: ofJob("1"), UID: "u-2"}, aSecret(exchange.ClaimKey, claim), true},
		"owned by its Job, no Secret":          {metav1.ObjectMeta{OwnerReferences: ofJob("1")}, nil, true},
		"no Job, has the claim":                {metav1.ObjectMeta{UID: "u-1"}, aSecret(exchange.ClaimKey, claim), true},
		"no Job, claimed by another":           {metav1.ObjectMeta{UID: "u-2", Labels: byJob}, aSecret(exchange.ClaimKey, claim), false},
		"no Job, no UID":                       {metav1.ObjectMeta{Labels: byJob}, aSecret(exchange.ClaimKey, "{}"), false},
		"no Job, no claim":                     {metav1.ObjectMeta{UID: "u-1"}, aSecret(), false},
		"no Job, invalid claim":                {metav1.ObjectMeta{UID: "u-1"}, aSecret(exchange.ClaimKey, "garbage"), false},
		"Job and Secret are gone":              {metav1.ObjectMeta{UID: "u-1", Labels: byJob}, nil, true},
		"no Job, no Job label":                 {metav1.ObjectMeta{UID: "u-1"}, nil, false},
		"owned by another Job":                 {metav1.ObjectMeta{OwnerReferences: other}, aSecret(), false},
		"owned by another kind of that name":   {metav1.ObjectMeta{OwnerReferences: set}, aSecret(), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(isOfRun(corev1.Pod{ObjectMeta: tt.pod}, key{"default", "1"}, tt.secret)).To(Equal(tt.want))
		})
	}
}

func TestAPodThatDoesNotBelongToTheRunKeepsNoSlot(t *testing.T) {
	s := start(t)
	s.step()
	s.pod(atWork)
	s.claim()
	s.step()
	other := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine", Labels: map[string]string{RunLabel: "1"}}}
	s.Expect(s.api.Create(t.Context(), other)).To(Succeed())
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.step()
	s.Expect(s.lingers()).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestARunMayNotBeInTheCacheYet(t *testing.T) {
	first := start(t)
	first.step()
	first.claim()
	empty := newCluster()
	s := first.next(func(o *Options) { o.Cache = cacheOf{Reader: empty, watched: &empty.watched} })
	s.Expect(s.phase()).To(Equal(run.Running))
}

// forge creates what a tenant who may create Secrets and Jobs can forge.
func (s *started) forge(namespace, id, stack string, ended *run.Result) {
	s.test.Helper()
	meta := metav1.ObjectMeta{
		Namespace: namespace, Name: Name(id), Labels: map[string]string{RunLabel: id}, Annotations: map[string]string{stackAnnotation: stack},
	}
	secret := &corev1.Secret{ObjectMeta: *meta.DeepCopy(), Data: map[string][]byte{exchange.ClaimKey: []byte("{}")}}
	if ended != nil {
		data, err := exchange.EncodeResult(run.Update, *ended)
		s.Expect(err).NotTo(HaveOccurred())
		secret.Data[exchange.ResultKey] = data
	}
	s.Expect(s.api.Create(s.test.Context(), secret)).To(Succeed())
	s.Expect(s.api.Create(s.test.Context(), &batchv1.Job{ObjectMeta: meta})).To(Succeed())
}

func TestForgedObjectsEndNoRun(t *testing.T) {
	forged := &run.Result{Outcome: run.Succeeded, Message: "forged"}
	first := start(t, recorded(runOfApp))
	first.step()
	first.claim()
	first.forge("another", "1", "app", forged)
	_, err := first.reconcile(t.Context(), key{"another", "1"})
	first.Expect(err).NotTo(HaveOccurred())
	first.Expect(first.phase()).To(Equal(run.Running), "another namespace has objects of the same ID")

	// The forged namespace sorts first, and the next controller starts with no memory.
	s := first.next(recorded(runOfApp))
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.runs).To(HaveKey(s.key))
	empty := newCluster()
	s = first.next(recorded(runOfApp), func(o *Options) { o.Cache = cacheOf{Reader: empty, watched: &empty.watched} })
	s.Expect(s.phase()).To(Equal(run.Running), "neither does its cache")
	s.Expect(s.runs).To(HaveKey(s.key))
}

func TestARunThatNoStackRecordsTakesNoSlot(t *testing.T) {
	s := runnerOn(t, newCluster(), recorded())
	for _, stack := range []string{"app", "", "no/name"} {
		s.forge("another", "of-"+string(rune('a'+len(stack))), stack, nil)
	}
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
	for _, id := range []string{"of-a", "of-d", "of-h"} {
		again, err := s.reconcile(t.Context(), key{"another", id})
		s.Expect(err).NotTo(HaveOccurred())
		s.Expect(again).To(BeFalse())
	}
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(BeZero())
	s.Expect(s.Ended()).To(BeEmpty())
}

func TestWhetherAStackHasARunIsAskedAgainAfterAnError(t *testing.T) {
	first := start(t)
	first.step()
	first.claim()
	s := first.next(func(o *Options) {
		o.Recorded = func(context.Context, run.Ref) (run.Recorded, error) {
			return run.Recorded{}, errors.New("connection refused")
		}
	})
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	s.Expect(s.phase()).To(Equal(run.Running))
}

func TestARunOfAnotherShardCountsOnceItsStackMovesHere(t *testing.T) {
	first := start(t, func(o *Options) { o.Part = "one" })
	first.step()
	first.claim()
	s := first.next(func(o *Options) { o.Part = "two" })
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
	s.step()
	s.Expect(s.runs).To(BeEmpty(), "nothing here would forget it")
	s.Expect(s.phase()).To(Equal(run.Running), "its Stack moved to this shard and asks for it")
	s.Release("default", "other")
	inFlight, _ := s.Count()
	s.Expect(inFlight).To(Equal(1))
	s.Expect(s.Reserve("default", "other")).To(BeFalse(), "it has the only slot")
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
	s.Expect(s.Reserve("default", "other")).To(BeTrue())
}

func TestAnotherShardAddsNoSlots(t *testing.T) {
	first := start(t, func(o *Options) { o.Part = "not-in-a" })
	first.step()
	first.claim()
	s := first.next(recorded(runOfApp), func(o *Options) { o.Part = "not-in-a-b" })
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.Expect(s.Reserve("default", "app")).To(BeFalse())
}

func TestAForgottenRunIsNotFoundAgain(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	secret := s.secret()
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	secret.ResourceVersion = ""
	s.Expect(s.api.WithWatch.Create(t.Context(), secret)).To(Succeed()) // as in a stale cache
	s.step()
	s.Expect(s.Ended()).To(BeEmpty())
	s.Expect(s.api.Delete(t.Context(), secret)).To(Succeed())
	job := &batchv1.Job{}
	s.Expect(s.api.Get(t.Context(), client.ObjectKeyFromObject(secret), job)).To(Succeed())
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	s.Expect(s.api.Status().Update(t.Context(), job)).To(Succeed())
	s.step()
	s.Expect(s.runs).To(BeEmpty(), "nothing is kept of a run that is gone")
}
