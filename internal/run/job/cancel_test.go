// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func (s *started) isCancelled() {
	s.test.Helper()
	phase, result := s.Look(run.Ref{ID: "1", Namespace: "default"})
	s.Expect(phase).To(Equal(run.Ended))
	s.Expect(result.Outcome).To(Equal(run.Cancelled))
	s.Expect(result.Interrupted).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeTrue(), "its slot is free")
}

func TestCancelBeforeTheRunIsCreated(t *testing.T) {
	s := start(t)
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
}

func TestCancelWhenTheRunIsHalfCreated(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.hasJob()).To(BeTrue())
	s.runs[s.key].todo = &run.Run{ID: "1", Namespace: "default", Name: "app"} // as after a lost response
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(HaveKey(exchange.ResultKey), "a pod that comes all the same begins nothing")
}

func TestCancelWhileTheRunCannotBeCreated(t *testing.T) {
	s := start(t)
	s.api.fails = func(client.Object) error { return errors.New("connection refused") }
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(HaveOccurred())
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.isCancelled()
}

func TestCancelBeforeAPodClaimsTheRun(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.Cancel(ref("1"), true)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.RunKey))))
}

func TestCancelOfARunInFlightIsWrittenOnce(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	for range 3 {
		s.step()
		s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	}
	s.Expect(s.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, []byte("Gently")))
	s.Expect(s.api.patches).To(Equal(1))
	phase, _ := s.Look(run.Ref{ID: "1", Namespace: "default"})
	s.Expect(phase).To(Equal(run.Running), "its pod reports the result")
	s.Expect(s.hasJob()).To(BeTrue())

	s.Expect(s.Cancel(ref("1"), true)).To(Succeed())
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	for range 3 {
		s.step()
	}
	s.Expect(s.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, []byte("Now")), "a cancel is not taken back")
	s.Expect(s.api.patches).To(Equal(2))
}

func TestCancelWithoutTheSecretDeletesTheJob(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.Expect(s.api.Delete(t.Context(), s.secret())).To(Succeed())
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
}

// immutable is the error of a write to an immutable Secret.
var immutable = apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Secret").GroupKind(), "pulumi-run-1",
	field.ErrorList{field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")})

func TestCancelWhenTheSecretCannotBeWritten(t *testing.T) {
	for name, refused := range map[string]error{
		"immutable":   immutable,
		"by a policy": apierrors.NewForbidden(corev1.Resource("secrets"), "pulumi-run-1", errors.New("denied by a policy")),
		"full":        apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
	} {
		t.Run(name, func(t *testing.T) {
			woken := &calls{}
			s := start(t, func(o *Options) { o.Wake = woken.ended })
			s.step()
			s.pod(atWork)
			s.claim()
			s.api.refuses = refused
			s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
			s.step()
			s.Expect(s.hasJob()).To(BeFalse(), "the pod gets a signal")
			const message = "the Secret of the run rejects the cancellation, so Job pulumi-run-1 was deleted to end its pod: "
			s.Expect(s.Report(ref("1")).Progress.Waiting).To(HavePrefix(message))
			s.Expect(woken.list()).To(ContainElement("default/app"))
			deletes := s.api.deletes
			s.step()
			s.Expect(s.api.deletes).To(Equal(deletes), "once")
			s.Expect(s.Report(ref("1")).Progress.Waiting).To(HavePrefix(message))
			s.pod(failed)
			s.step()
			s.Expect(s.ended().Message).To(HavePrefix(message))
			s.Expect(s.ended().Interrupted).To(BeTrue())
		})
	}
}

func TestAnUnclaimedRunIsGivenUpByDeletingItsSecret(t *testing.T) {
	s := start(t)
	s.step()
	s.api.refuses = immutable
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.has(&corev1.Secret{})).To(BeFalse(), "no pod can claim it")
}

func TestARunClaimedMeanwhileKeepsItsSecret(t *testing.T) {
	s := start(t)
	s.step()
	s.api.refuses = immutable
	s.api.patching = func() {
		s.api.patching = nil
		s.claim()
	}
	s.Expect(s.Cancel(ref("1"), false)).To(Succeed())
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(HaveOccurred())
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.has(&corev1.Secret{})).To(BeTrue())
}

// A program can forge a result, and the request to cancel too.
func TestTheNextControllerReadsTheCancelFromTheStack(t *testing.T) {
	for name, tt := range map[string]struct {
		recorded   run.Recorded
		want       run.Outcome
		sentCancel exchange.Cancel
	}{
		"a person":          {run.Recorded{InFlight: true, Cancelled: true}, run.Cancelled, exchange.CancelGently},
		"a person, at once": {run.Recorded{InFlight: true, Cancelled: true, AtOnce: true}, run.Cancelled, exchange.CancelNow},
		"nobody":            {run.Recorded{InFlight: true}, run.PodFailed, exchange.NotCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := func(o *Options) {
				o.Recorded = func(context.Context, run.Ref) (run.Recorded, error) { return tt.recorded, nil }
			}
			first := start(t)
			first.step()
			first.pod(atWork)
			first.claim()
			s := first.next(recorded)
			s.step()
			s.Expect(string(s.secret().Data[exchange.CancelKey])).To(BeEquivalentTo(tt.sentCancel))

			first.write(run.Result{Outcome: run.Cancelled, Message: "cancelled: requested by a user"})
			secret := s.secret()
			secret.Data[exchange.CancelKey] = []byte(exchange.CancelGently) // proves nothing: a program can write it
			s.Expect(s.api.Update(t.Context(), secret)).To(Succeed())
			s.step()
			s.Expect(s.ended().Outcome).To(Equal(tt.want), "result read by the controller that sees it end")
			s = first.next(recorded)
			s.Expect(s.ended().Outcome).To(Equal(tt.want), "result read by the controller that finds it ended")
			if tt.want == run.PodFailed {
				s.Expect(s.ended().Message).To(Equal("the pod of the run was terminated; Pulumi finished the operations in flight"))
			}
		})
	}
}
