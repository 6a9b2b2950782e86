// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestObjectsOfRunsNoStackKnowsAreRemoved(t *testing.T) {
	for name, tc := range map[string]struct {
		inUse map[string]bool
		err   error
		kept  bool
	}{
		"known to a Stack": {inUse: map[string]bool{"1": true}, kept: true},
		"known to none":    {inUse: map[string]bool{"2": true}},
		"API error":        {err: errors.New("connection refused"), kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			first := start(t)
			first.step()
			first.claim()
			s := first.next()
			s.Expect(s.phase()).To(Equal(run.Running))
			s.options.InUse = func(context.Context) (map[string]bool, error) { return tc.inUse, tc.err }
			s.Expect(s.sweep(t.Context()) != nil).To(Equal(tc.err != nil))
			s.Expect(s.has(&corev1.Secret{})).To(Equal(tc.kept))
			s.Expect(s.Reserve("default", "other")).To(Equal(!tc.kept))
		})
	}
}

// left creates the Secret of a run that no Stack knows.
func (s *started) left(id string, finalizers ...string) {
	s.test.Helper()
	s.Expect(s.api.Create(s.test.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: Name(id), Labels: map[string]string{RunLabel: id}, Finalizers: finalizers,
	}})).To(Succeed())
}

func TestASweepDoesNotDelayRuns(t *testing.T) {
	asked := make(chan struct{})
	s := start(t, func(o *Options) {
		o.InUse = func(ctx context.Context) (map[string]bool, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	defer s.running()()
	s.Eventually(asked).Should(BeClosed())
	s.Eventually(s.hasJob).Should(BeTrue())
}

func TestAFailedRemovalIsRetried(t *testing.T) {
	for name, fail := range map[string]func(s *started, asked *atomic.Int32){
		"the Stacks could not be listed": func(s *started, asked *atomic.Int32) {
			s.options.InUse = func(context.Context) (map[string]bool, error) {
				if asked.Add(1) < 3 {
					return nil, errors.New("connection refused")
				}
				return nil, nil
			}
		},
		"it could not be deleted": func(s *started, asked *atomic.Int32) {
			s.api.undeletable = apierrors.NewInternalError(errors.New("etcd is away"))
			s.options.InUse = func(context.Context) (map[string]bool, error) {
				if asked.Add(1) == 3 {
					s.api.mu.Lock()
					defer s.api.mu.Unlock()
					s.api.undeletable = nil
				}
				return nil, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, asked := runnerOn(t, newCluster()), &atomic.Int32{}
			s.left("1")
			fail(s, asked)
			s.sweepUntilDone(t.Context(), wait.Backoff{Duration: time.Millisecond})
			s.Expect(asked.Load()).To(BeEquivalentTo(3))
			s.Expect(s.has(&corev1.Secret{})).To(BeFalse())
		})
	}
}

func TestAnObjectHeldByAFinalizerIsDeletedOnce(t *testing.T) {
	s := runnerOn(t, newCluster())
	s.options.InUse = func(context.Context) (map[string]bool, error) { return nil, nil }
	s.left("1", "example.com/x")
	for range 3 {
		s.Expect(s.sweep(t.Context())).To(Succeed())
	}
	s.Expect(s.api.deletes).To(Equal(1))
}

func TestASweepGivesItsSlotToAWaitingStack(t *testing.T) {
	first := start(t)
	first.step()
	first.claim()
	woken := &calls{}
	s := first.next(func(o *Options) { o.Wake = woken.ended })
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.options.InUse = func(context.Context) (map[string]bool, error) { return nil, nil }
	s.Expect(s.sweep(t.Context())).To(Succeed())
	s.Expect(woken.list()).To(Equal([]string{"default/other"}))
}

func TestHowOftenASweepIsRetried(t *testing.T) {
	g, again := NewWithT(t), sweepAgain()
	var waits []time.Duration
	for range 12 {
		waits = append(waits, again.Step())
	}
	g.Expect(waits[:3]).To(Equal([]time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second}))
	g.Expect(waits[8:]).To(HaveEach(30 * time.Minute))
}
