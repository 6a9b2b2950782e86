// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func TestHowLongCreatingARunIsRetried(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		since  time.Duration
		closed bool
		want   bool
	}{
		"first try failed":          {since: time.Second},
		"tries failed for a minute": {since: time.Minute, want: true},
		"controller shutting down":  {since: time.Second, closed: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(createRetry{since: now.Add(-tt.since)}.isHopeless(now, tt.closed)).To(Equal(tt.want))
		})
	}
}

func TestWhatIsLeftOfARunThatCannotBeCreated(t *testing.T) {
	others := aSecret()
	others.Labels = map[string]string{RunLabel: "2"}
	of := func(data ...string) *corev1.Secret {
		secret := aSecret(data...)
		secret.Labels = map[string]string{RunLabel: "1"}
		return secret
	}
	for name, tt := range map[string]struct {
		secret *corev1.Secret
		want   createdState
	}{
		"no Secret":                 {nil, nothingCreated},
		"a Secret of another owner": {others, nothingCreated},
		"waiting for its pod":       {of(exchange.RunKey, "x"), secretUnclaimed},
		"claimed by a pod":          {of(exchange.ClaimKey, "{}"), secretClaimed},
		"with a result":             {of(exchange.ResultKey, "x"), secretClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(stateOfCreated(tt.secret, "1")).To(Equal(tt.want))
		})
	}
}

// away is the API server's error for an unreachable webhook.
var away = apierrors.NewInternalError(errors.New(`failed calling webhook "guard.example.com": connection refused`))

// unanswered fails the creation of that kind with an unreachable webhook.
func unanswered(kind string) func(client.Object) error {
	return func(object client.Object) error {
		if typeName(object) == kind {
			return away
		}
		return nil
	}
}

// stepFails takes the run a step that fails and is to be retried.
func (s *started) stepFails() {
	s.test.Helper()
	_, err := s.reconcile(s.test.Context(), s.key)
	s.Expect(err).To(HaveOccurred())
}

// beTriedForLong backdates the first failure so that createAllowance has passed.
func (s *started) beTriedForLong() {
	s.test.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Expect(s.runs[s.key].create.since).NotTo(BeZero())
	s.runs[s.key].create.since = time.Now().Add(-createAllowance)
}

func TestARunThatCannotBeCreatedAwaitsItsRetryWithoutASlot(t *testing.T) {
	for _, kind := range append(inOrder, "a pod") {
		t.Run(kind, func(t *testing.T) {
			s := start(t)
			s.api.fails = unanswered(kind)
			if kind == "a pod" {
				s.api.tried = away
			}
			s.stepFails()
			s.Expect(s.phase()).To(Equal(run.Running), "most webhooks are back within a minute")
			s.Expect(s.Reserve("other", "app")).To(BeFalse())
			s.beTriedForLong()
			s.step()
			s.Expect(s.ended()).To(And(HaveField("Outcome", run.PodFailed), HaveField("Interrupted", false)))
			s.Expect(s.ended().Message).To(And(HavePrefix("the Job of the run could not be created: failed to create "), ContainSubstring("failed calling webhook")))
			s.Expect(s.Reserve("other", "app")).To(BeTrue())
			s.Expect(s.hasJob()).To(BeFalse())
			if s.has(&corev1.Secret{}) {
				s.Expect(s.secret().Data).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.RunKey))))
			}
			s.Expect(s.lingers()).To(BeFalse())
		})
	}
}

func TestARunAPodMayHaveClaimedIsNotEnded(t *testing.T) {
	lost := func(t *testing.T) *started {
		s := start(t)
		s.api.lost = once("*v1.Job", errors.New("connection reset"))
		s.stepFails()
		s.api.tried = away
		s.beTriedForLong()
		return s
	}
	t.Run("before", func(t *testing.T) {
		s := lost(t)
		s.pod(atWork)
		s.claim()
		s.step()
		s.Expect(s.phase()).To(Equal(run.Running))
		s.Expect(s.hasJob()).To(BeTrue())
		s.Expect(s.Reserve("other", "app")).To(BeFalse())
	})
	t.Run("in the meantime", func(t *testing.T) {
		s := lost(t)
		s.api.patching = func() {
			s.api.patching = nil
			s.pod(atWork)
			s.claim()
		}
		s.stepFails()
		s.Expect(s.phase()).To(Equal(run.Running))
		s.Expect(s.hasJob()).To(BeTrue())
		s.step()
		s.Expect(s.phase()).To(Equal(run.Running))
	})
	t.Run("not at all", func(t *testing.T) {
		s := lost(t)
		s.step()
		s.Expect(s.ended().Interrupted).To(BeFalse())
		s.Expect(s.hasJob()).To(BeFalse())
		s.Expect(s.secret().Data).To(HaveKey(exchange.ResultKey), "a pod created before the Job is gone finds it")
	})
}

func TestARunWhoseSecretCannotBeWrittenIsEndedByDeletingIt(t *testing.T) {
	s := start(t)
	s.api.fails, s.api.refuses = unanswered("*v1.Job"), away
	s.stepFails()
	s.beTriedForLong()
	s.step()
	s.Expect(s.ended().Outcome).To(Equal(run.PodFailed))
	s.Expect(s.has(&corev1.Secret{})).To(BeFalse(), "no pod can claim it")
}

func TestARunThatCanBeNeitherCreatedNorEndedKeepsNoSlot(t *testing.T) {
	for name, keep := range map[string]func(s *started){
		"the deletion is refused": func(s *started) { s.api.undeletable = away },
		"a finalizer keeps it": func(s *started) {
			secret := s.secret()
			secret.Finalizers = []string{"example.com/x"}
			s.Expect(s.api.Update(t.Context(), secret)).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.api.fails, s.api.refuses = unanswered("*v1.Role"), away
			s.stepFails()
			keep(s)
			s.beTriedForLong()
			s.stepFails()
			s.Expect(s.phase()).To(Equal(run.Running))
			s.Expect(s.Reserve("default", "app")).To(BeFalse())
			s.Expect(s.Reserve("other", "app")).To(BeTrue())
			s.Release("other", "app")
			s.stepFails()
			s.Expect(s.Reserve("other", "app")).To(BeTrue(), "it takes it once")
			s.Release("other", "app")

			s.api.fails, s.api.refuses, s.api.undeletable = nil, nil, nil
			s.step()
			s.Expect(s.hasJob()).To(BeTrue())
			s.step()
			s.Expect(s.Reserve("other", "app")).To(BeFalse(), "its Job has a slot again")
		})
	}
}

func TestARunAPodClaimsAfterAllHasASlotAgain(t *testing.T) {
	s := start(t)
	s.api.fails, s.api.refuses, s.api.undeletable = unanswered("*v1.Role"), away, away
	s.stepFails()
	s.beTriedForLong()
	s.stepFails()
	s.Expect(s.Reserve("other", "app")).To(BeTrue())
	s.Release("other", "app")

	s.api.fails, s.api.refuses, s.api.undeletable = nil, nil, nil
	s.step()
	s.claim() // before the run is seen waiting for its pod
	s.step()
	s.Expect(s.Reserve("other", "app")).To(BeFalse())
}

func TestAnInactiveRunThatCannotBeEndedKeepsNoSlot(t *testing.T) {
	halfMade := func(t *testing.T) *started {
		s := start(t)
		s.api.fails = unanswered("*v1.Role")
		s.stepFails()
		return s
	}
	for name, left := range map[string]func(t *testing.T) *started{
		"cancelled while it is made": func(t *testing.T) *started {
			s := halfMade(t)
			s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
			s.step()
			return s
		},
		"found by the next controller": func(t *testing.T) *started {
			next := halfMade(t).next()
			next.Expect(next.Reserve("other", "app")).To(BeFalse())
			next.Release("other", "app")
			return next
		},
		"its Job was deleted": func(t *testing.T) *started {
			s := start(t)
			s.step()
			s.Expect(s.removeJob(t.Context(), s.key)).To(Succeed())
			return s
		},
		"its Job has failed": func(t *testing.T) *started {
			s := start(t)
			s.step()
			job := &batchv1.Job{}
			s.Expect(s.api.Get(t.Context(), s.name(), job)).To(Succeed())
			job.Status = failedJob("DeadlineExceeded", "").Status
			s.Expect(s.api.Status().Update(t.Context(), job)).To(Succeed())
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := left(t)
			s.api.fails, s.api.refuses, s.api.undeletable = nil, away, away
			s.stepFails()
			s.Expect(s.phase()).To(Equal(run.Running))
			s.Expect(s.Reserve("default", "app")).To(BeFalse(), "nothing is run beside it")
			s.Expect(s.Reserve("other", "app")).To(BeTrue())
			s.stepFails()
			s.Release("other", "app")

			s.api.refuses, s.api.undeletable = nil, nil
			s.step()
			s.Expect(s.ended().Interrupted).To(BeFalse())
			s.Expect(s.lingers()).To(BeFalse())
			s.Expect(s.Reserve("default", "app")).To(BeTrue())
		})
	}
}

// A tenant may change the labels of the Secret.
func TestARemainingSecretIsFoundByItsName(t *testing.T) {
	s := start(t)
	s.step()
	secret := s.secret()
	secret.Labels[RunLabel], secret.Finalizers = "another", []string{"example.com/x"}
	s.Expect(s.api.Update(t.Context(), secret)).To(Succeed())
	s.api.refuses = away
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.stepFails()
	s.Expect(s.phase()).To(Equal(run.Running), "a pod may claim it")
	s.Expect(s.hasJob()).To(BeTrue())
}

func TestARunThatCannotBeEndedKeepsItsSlotWhileItsJobMayCreateAPod(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.api.refuses, s.api.undeletable = away, away
	s.stepFails()
	s.Expect(s.Reserve("other", "app")).To(BeFalse())
	s.suspend(true)
	s.stepFails()
	s.beIdle()
	s.stepFails()
	s.Expect(s.Reserve("other", "app")).To(BeTrue())
	s.Release("other", "app")
	s.suspend(false)
	s.stepFails()
	s.Expect(s.Reserve("other", "app")).To(BeFalse(), "it has a slot again")
}

func TestARunIsCreatedWhenTheAPIServerIsBack(t *testing.T) {
	s := start(t)
	s.api.fails, s.api.unreadable = func(client.Object) error { return errors.New("connection refused") }, errors.New("connection refused")
	s.stepFails()
	s.beTriedForLong()
	s.stepFails()
	s.Expect(s.Reserve("other", "app")).To(BeFalse(), "no run makes progress meanwhile")
	s.api.fails, s.api.unreadable = nil, nil
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.hasJob()).To(BeTrue())
}

func TestARunWhoseLeaderIsLostMidTryGoesToTheNext(t *testing.T) {
	s := start(t)
	s.api.fails = unanswered("*v1.Role")
	s.stepFails()
	s.beTriedForLong()
	lost, lose := context.WithCancel(t.Context())
	lose()
	_, err := s.reconcile(lost, s.key)
	s.Expect(err).To(HaveOccurred())
	s.Expect(s.secret().Data).NotTo(HaveKey(exchange.ResultKey))
}

// running processes the queue until the returned function is called.
func (s *started) running() (end func()) {
	s.test.Helper()
	ctx, cancel := context.WithCancel(s.test.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return func() {
		s.test.Helper()
		cancel()
		s.Eventually(ended).Should(Receive(BeNil()))
	}
}

func TestShutdownEndsRunsThatCannotBeCreated(t *testing.T) {
	s := start(t)
	s.api.fails = unanswered("*v1.Role")
	defer s.running()()
	s.Eventually(func() string { return s.Report(ref("1")).Progress.Waiting }).Should(ContainSubstring("failed calling webhook"))
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Expect(s.Shutdown(soon)).To(Succeed())
	s.Expect(s.ended().Outcome).To(Equal(run.PodFailed))
}

func TestShutdownDoesNotWaitForRunsThatCannotBeEnded(t *testing.T) {
	s := start(t)
	s.api.fails, s.api.refuses, s.api.undeletable = unanswered("*v1.Role"), away, away
	defer s.running()()
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Expect(s.Shutdown(soon)).To(MatchError("the Jobs of 1 runs could not be created"))
}

func TestShutdownDoesNotWaitAfterTheLeaseIsLost(t *testing.T) {
	s := start(t)
	s.api.fails = unanswered("*v1.Role")
	end := s.running()
	s.Eventually(func() string { return s.Report(ref("1")).Progress.Waiting }).Should(ContainSubstring("failed calling webhook"))
	end() // for example when the lease is lost
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Expect(s.Shutdown(soon)).To(MatchError("the Jobs of 1 runs could not be created"))
}

func TestShutdownDoesNotWaitForRights(t *testing.T) {
	s := start(t)
	s.mu.Lock()
	s.missingRights = "no Jobs may be created"
	s.mu.Unlock()
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s.Expect(s.Shutdown(soon)).To(MatchError("the Jobs of 1 runs could not be created"))
}
