// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func (s *started) isCancelled() {
	s.test.Helper()
	phase, result := s.Look("1")
	s.Expect(phase).To(Equal(run.Ended))
	s.Expect(result.Outcome).To(Equal(run.Cancelled))
	s.Expect(result.Interrupted).To(BeFalse())
	s.Expect(s.Reserve("default", "other")).To(BeTrue(), "its place is free")
}

func TestARunThatIsCancelledBeforeItIsMade(t *testing.T) {
	s := start(t)
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
}

func TestARunThatIsCancelledWhenItWasHalfMade(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.hasJob()).To(BeTrue())
	s.runs["1"].todo = &run.Run{ID: "1", Namespace: "default", Name: "app"} // as after an answer that was lost
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(HaveKey(exchange.ResultKey), "a pod that comes all the same begins nothing")
}

func TestARunThatIsCancelledWhileItCannotBeMade(t *testing.T) {
	s := start(t)
	s.api.fails = func(client.Object) error { return errors.New("connection refused") }
	_, err := s.tend(t.Context(), s.key)
	s.Expect(err).To(HaveOccurred())
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.isCancelled()
}

func TestARunThatIsCancelledBeforeAPodHasBegunIt(t *testing.T) {
	s := start(t)
	s.step()
	s.Expect(s.Cancel("1", true)).To(Succeed())
	s.step()
	s.isCancelled()
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.RunKey))))
}

func TestARunThatIsCancelledInMidRunIsToldSoOnce(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.Expect(s.Cancel("1", false)).To(Succeed())
	for range 3 {
		s.step()
		s.Expect(s.Cancel("1", false)).To(Succeed())
	}
	s.Expect(s.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, []byte("Gently")))
	s.Expect(s.api.patches).To(Equal(1))
	phase, _ := s.Look("1")
	s.Expect(phase).To(Equal(run.Running), "its pod tells how it ends")
	s.Expect(s.hasJob()).To(BeTrue())

	s.Expect(s.Cancel("1", true)).To(Succeed())
	s.Expect(s.Cancel("1", false)).To(Succeed())
	for range 3 {
		s.step()
	}
	s.Expect(s.secret().Data).To(HaveKeyWithValue(exchange.CancelKey, []byte("Now")), "which is not taken back")
	s.Expect(s.api.patches).To(Equal(2))
}

func TestARunThatIsCancelledWithoutItsSecretEndsWithItsJob(t *testing.T) {
	s := start(t)
	s.step()
	s.claim()
	s.Expect(s.api.Delete(t.Context(), s.secret())).To(Succeed())
	s.Expect(s.Cancel("1", false)).To(Succeed())
	s.step()
	s.Expect(s.hasJob()).To(BeFalse())
}
