// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// recorder is a test that fails.
type recorder struct {
	testing.TB
	text string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failed runs a test, and returns how it has failed.
func failed(t *testing.T, test func(testing.TB)) string {
	r, done := &recorder{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	NewWithT(t).Eventually(done, time.Minute).Should(BeClosed())
	return r.text
}

func TestNothingIsAwaitedAfterTheAPIServerHasFailed(t *testing.T) {
	g := NewWithT(t)
	api, fail := context.WithCancelCause(t.Context())
	g.Expect(failed(t, func(test testing.TB) {
		NewAssertions(test, api).Eventually(func() error {
			fail(errors.New("etcd has ended"))
			return errors.New("timeout")
		}, time.Hour).Should(Succeed())
	})).To(And(ContainSubstring("etcd has ended"), ContainSubstring("timeout")))
	g.Expect(failed(t, func(test testing.TB) { NewAssertions(test, api) })).To(ContainSubstring("before the test began: etcd has ended"))
}

func TestTheTimeoutsOfEventuallyAreKept(t *testing.T) {
	g := NewWithT(t)
	g.Expect(failed(t, func(test testing.TB) {
		a := NewAssertions(test, t.Context())
		a.SetDefaultEventuallyTimeout(10 * time.Millisecond)
		a.Eventually(func() bool { return false }).Should(BeTrue())
	})).To(ContainSubstring("Timed out"))
}
