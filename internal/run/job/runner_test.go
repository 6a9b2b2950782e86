// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// calls records which Stacks were woken.
type calls struct {
	mu  sync.Mutex
	all []string
}

func (c *calls) ended(namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, namespace+"/"+name)
}

func (c *calls) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

func TestWhatStartRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(s *started)
		todo   run.Run
		want   string
	}{
		"an ID that is no valid name": {before: func(s *started) { s.Reserve("default", "app") }, todo: oneRun("A_b", "app"), want: "cannot be the ID of a run"},
		"no slot":                     {todo: oneRun("1", "app"), want: "no slot is reserved"},
		"another run of the Stack": {before: func(s *started) {
			s.Reserve("default", "app")
			s.Expect(s.Start(oneRun("2", "app"))).To(Succeed())
		}, todo: oneRun("1", "app"), want: "another run of the Stack is in flight"},
		"a controller that is shutting down": {before: func(s *started) {
			s.Reserve("default", "app")
			s.Expect(s.Shutdown(context.Background())).To(Succeed())
		}, todo: oneRun("1", "app"), want: "the controller is shutting down"},
	} {
		t.Run(name, func(t *testing.T) {
			s := runnerOn(t, newCluster())
			if tc.before != nil {
				tc.before(s)
			}
			err := s.Start(tc.todo)
			s.Expect(err).To(MatchError(run.ErrRefused))
			s.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			s.Expect(s.phase()).To(Equal(run.Unknown))
		})
	}
}

func TestAWaitingStackIsWokenWhenASlotIsFree(t *testing.T) {
	woken := &calls{}
	s := start(t, func(o *Options) { o.Wake = woken.ended })
	s.Expect(s.Reserve("default", "app")).To(BeFalse(), "one run at a time for a Stack")
	for _, stack := range []string{"b", "c"} {
		s.Expect(s.Reserve("default", stack)).To(BeFalse())
	}
	inFlight, waiting := s.Count()
	s.Expect([]int{inFlight, waiting}).To(Equal([]int{1, 2}))
	s.Release("default", "app")
	s.Postpone("default", "app")
	s.Expect(s.Reserve("default", "b")).To(BeFalse())
	s.Expect(woken.list()).To(BeEmpty(), "a run in flight keeps its slot")
	s.step()
	s.claim()
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(woken.list()).To(Equal([]string{"default/app", "default/b"}))
	s.Expect(s.Reserve("default", "b")).To(BeTrue())
	s.Postpone("default", "b")
	s.Expect(s.Reserve("default", "c")).To(BeFalse(), "b is about to come back")
	s.Release("default", "b")
	s.Expect(woken.list()).To(Equal([]string{"default/c"}))
	s.Expect(s.Reserve("default", "c")).To(BeTrue())
}

func TestANamespaceCannotTakeAllSlots(t *testing.T) {
	s := runnerOn(t, newCluster(), func(o *Options) { o.Concurrent, o.PerNamespace = 2, 1 })
	s.Expect(s.Reserve("a", "1")).To(BeTrue())
	s.Expect(s.Reserve("a", "2")).To(BeFalse())
	s.Expect(s.Reserve("b", "1")).To(BeTrue(), "runs of another namespace do not wait for it")
}

func TestAnEndedRunIsForgotten(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.Forget(ref("1"))).To(MatchError(ContainSubstring("in flight")))
	s.claim()
	s.write(run.Result{Outcome: run.Succeeded})
	s.step()
	s.Expect(s.Forget(ref("1"))).To(Succeed())
	s.Expect(s.has(&corev1.Secret{})).To(BeFalse())
	s.Expect(s.hasJob()).To(BeTrue(), "kept for its log")
	s.Expect(s.Forget(ref("1"))).To(Succeed(), "also twice")
}

func TestShutdownWaitsOnlyForRunsBeingCreated(t *testing.T) {
	s := start(t)
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s.Expect(s.Shutdown(ended)).To(MatchError(ContainSubstring("waiting for the Jobs of runs to be created")))
	s.Expect(s.Closed()).To(BeTrue())
	s.Expect(s.Reserve("default", "other")).To(BeFalse())
	s.step()
	s.Expect(s.Shutdown(t.Context())).To(Succeed(), "its Job continues")
	s.Expect(s.InFlight()).To(BeEmpty(), "no run ends with the controller")
	s.AwaitForgotten(t.Context())
}

func TestTheProgressAPodReportsIsKnown(t *testing.T) {
	woken := &calls{}
	s := start(t, func(o *Options) { o.Wake = woken.ended })
	s.step()
	s.claim()
	writeReport := func(text string) {
		secret := s.secret()
		secret.Data["told"] = []byte(text)
		s.Expect(s.api.Update(t.Context(), secret)).To(Succeed())
		s.step()
	}
	writeReport(`{"Progress":{"InFlight":2}}`)
	s.Expect(s.Report(ref("1")).Progress.InFlight).To(Equal(2))
	s.Expect(woken.list()).To(BeEmpty(), "progress is polled")
	writeReport(`{"Progress":{"InFlight":2},"UnknownCreates":["urn:a"]}`)
	s.Expect(s.Report(ref("1")).UnknownCreates).To(Equal([]string{"urn:a"}))
	s.Expect(woken.list()).To(Equal([]string{"default/app"}), "a creation of unknown outcome is reported at once")
	writeReport(`rubbish`)
	s.Expect(s.Report(ref("2")).Progress).To(BeZero())
	s.Expect(s.Report(ref("2")).UnknownCreates).To(BeNil())
}

func TestRunsInTheBackgroundHaveSlotsOfTheirOwn(t *testing.T) {
	s := start(t, func(o *Options) { o.ConcurrentInBackground = 1 })
	check := oneRun("2", "checked")
	check.Operation = run.CheckDrift
	s.Expect(s.Background().Reserve("default", "checked")).To(BeTrue(), "the slot for updates is taken")
	s.Expect(s.Start(oneRun("2", "checked"))).To(MatchError(ContainSubstring("no slot is reserved")), "that is a slot for checks")
	s.Expect(s.Start(check)).To(Succeed())
	s.Expect(s.Background().Reserve("default", "next")).To(BeFalse())
	s.Expect(s.Reserve("default", "checked")).To(BeFalse(), "one run of a Stack at a time")
	inFlight, waiting := s.Count()
	s.Expect([]int{inFlight, waiting}).To(Equal([]int{2, 1}))
	s.Background().Release("default", "checked")
	s.Expect(s.Background().Reserve("default", "other")).To(BeFalse(), "a check in flight keeps its slot")
}
