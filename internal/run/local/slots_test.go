// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestRunsInTheBackgroundHaveSlotsOfTheirOwn(t *testing.T) {
	f := newFixture(t, func(o *Options) { o.ConcurrentInBackground = 1 })
	check := aRun("check", "checked")
	check.Operation = run.CheckDrift
	f.Expect(f.runner.Background().Reserve("ns", "checked")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "checked"))).To(MatchError(ContainSubstring("no slot is reserved")), "that is a slot for checks")
	f.Expect(f.runner.Start(check)).To(Succeed())
	f.Expect(f.runner.Background().Reserve("ns", "next")).To(BeFalse())

	f.Expect(f.runner.Reserve("ns", "updated")).To(BeTrue(), "an update does not wait for checks")
	f.Expect(f.runner.Start(aRun("update", "updated"))).To(Succeed())
	f.Expect(f.runner.Reserve("ns", "checked")).To(BeFalse(), "one run of a Stack at a time")
	inFlight, waiting := f.runner.Count()
	f.Expect([]int{inFlight, waiting}).To(Equal([]int{2, 1}))

	close(f.driver.open)
	var woken []string
	f.Eventually(func() []string {
		select {
		case stack := <-f.ended:
			woken = append(woken, stack)
		default:
		}
		return woken
	}).Should(ConsistOf("ns/checked", "ns/updated", "ns/next"))
	f.Expect(f.runner.Background().Reserve("ns", "next")).To(BeTrue())
	f.runner.Background().Postpone("ns", "next")
	f.Expect(f.runner.Background().Reserve("ns", "other")).To(BeFalse(), "next is about to come back")
	f.runner.Background().Release("ns", "next")
	f.Expect(f.runner.Background().Reserve("ns", "other")).To(BeTrue())
}
