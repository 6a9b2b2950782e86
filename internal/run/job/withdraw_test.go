// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func TestAnUnclaimedRunIsWithdrawn(t *testing.T) {
	s := start(t)
	s.Expect(s.Report(ref("1")).Withdrawable).To(BeFalse(), "it is not created yet")
	s.step()
	s.suspend(true)
	s.step()
	s.Expect(s.Report(ref("1")).Withdrawable).To(BeTrue())
	s.Withdraw(ref("1"))
	s.Expect(s.Report(ref("1")).Withdrawable).To(BeFalse(), "once is enough")
	s.step()
	s.isCancelled()
	s.Expect(s.ended().Message).To(HavePrefix("withdrawn: "))
	s.Expect(s.hasJob()).To(BeFalse())
	s.Expect(s.secret().Data).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.RunKey))), "a pod that comes all the same begins nothing")
	s.Expect(s.Report(ref("1")).Withdrawable).To(BeFalse())
}

func TestAClaimedRunIsNotWithdrawn(t *testing.T) {
	for name, claim := range map[string]func(*started){
		"before": func(s *started) {
			s.claim()
			s.step()
			s.Expect(s.Report(ref("1")).Withdrawable).To(BeFalse())
			s.Withdraw(ref("1"))
			s.step()
		},
		"in the meantime": func(s *started) {
			s.Withdraw(ref("1"))
			s.api.patching = func() {
				s.api.patching = nil
				s.claim()
			}
			s.stepFails()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.step()
			s.pod(atWork)
			claim(s)
			s.step()
			s.Expect(s.phase()).To(Equal(run.Running))
			s.Expect(s.hasJob()).To(BeTrue())
			s.Expect(s.secret().Data).NotTo(Or(HaveKey(exchange.ResultKey), HaveKey(exchange.CancelKey)))
		})
	}
}

func TestAWithdrawalIsNoFailureWhoeverReadsItsResult(t *testing.T) {
	for name, tt := range map[string]struct{ pods, next bool }{
		"this controller": {false, false},
		"this controller, while the pod is starting": {true, false},
		"the next controller":                        {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.step()
			if tt.pods {
				s.pod(func(status *corev1.PodStatus) { status.Phase = corev1.PodPending })
			}
			s.Withdraw(ref("1"))
			s.api.undeletable = errors.New("connection reset")
			s.stepFails()
			s.Expect(s.secret().Data).To(HaveKey(exchange.ResultKey))
			s.api.undeletable = nil
			if tt.next {
				s = s.next()
			}
			s.step()
			s.Expect(s.ended().Outcome).To(Equal(run.Cancelled))
			s.Expect(s.ended().Message).To(HavePrefix("withdrawn: "))
		})
	}
}
