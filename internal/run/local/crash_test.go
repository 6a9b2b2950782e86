// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// crashing is a driver that panics, with a secret of the run, after it has reported.
type crashing struct{}

func (crashing) Do(ctx context.Context, _ pulumi.Directory, r run.Run, _ func(string)) run.Result {
	r.Reporter.UnknownCreates([]string{"urn:a"})
	_ = r.Reporter.Found(ctx, run.Found{Backend: "file:///state"})
	panic("no such index as " + r.Secrets["pw"])
}

// The record of the run stays in its Stack, and leads to a recovery.
func TestAPanicInARunInterruptsThatRunAlone(t *testing.T) {
	for operation, interrupted := range map[run.Operation]bool{run.Update: true, run.Preview: false} {
		t.Run(string(operation), func(t *testing.T) {
			var mu sync.Mutex
			var lines string
			f := newFixture(t, func(o *Options) {
				o.Driver = crashing{}
				o.Log = funcr.New(func(_, line string) {
					mu.Lock()
					defer mu.Unlock()
					lines += line
				}, funcr.Options{})
			})
			r := aRun("run-a", "a")
			r.Operation, r.Timeout = operation, time.Hour
			f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
			f.Expect(f.runner.Start(r)).To(Succeed())
			f.Eventually(func() run.Phase { return f.phase("run-a") }).Should(Equal(run.Ended))
			for _, runner := range []*Runner{f.runner, New(f.runner.options)} { // and for the next process
				_, result := runner.Look(run.Ref{ID: "run-a"})
				f.Expect(result.Outcome).To(Equal(run.Failed))
				f.Expect(result.Message).To(And(ContainSubstring("internal error: no such index as ***"), Not(ContainSubstring("hunter2"))))
				f.Expect(result.Interrupted).To(Equal(interrupted))
				if interrupted {
					f.Expect(result.UnknownCreates).To(Equal([]string{"urn:a"}))
					f.Expect(result.Backend).To(Equal("file:///state"))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			f.Expect(lines).To(And(ContainSubstring("crash_test.go"), Not(ContainSubstring("hunter2"))), "the stack")
			f.Expect(f.runner.Reserve("ns", "b")).To(BeTrue(), "its slot is free")
			f.runner.Release("ns", "b")
		})
	}
}
