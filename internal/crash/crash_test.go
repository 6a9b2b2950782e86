// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/crash"
)

func TestThePanicOfAGoroutineReachesItsWaiter(t *testing.T) {
	g := NewWithT(t)
	crash.Go(func() {}).Wait()

	var caught *crash.Panic
	func() {
		defer func() { caught = crash.Of(recover()) }()
		crashed := crash.Go(func() { goesWrong() })
		<-crashed.Done()
		crashed.Wait()
	}()
	g.Expect(caught).To(MatchError("no such thing"))
	g.Expect(string(caught.Stack)).To(And(ContainSubstring("goesWrong"), Not(ContainSubstring("no such thing"))))
}

func goesWrong() { panic("no such thing") }
