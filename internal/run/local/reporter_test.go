// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAStackIsNotifiedOfUnknownCreationsAtOnce(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.runner.Reserve("default", "a")).To(BeTrue())
	f.Expect(f.runner.Start(run.Run{ID: "run-a", Namespace: "default", Name: "a", Timeout: time.Hour})).To(Succeed())
	reporter{f.runner, "run-a"}.UnknownCreates([]string{"urn:a"})
	f.Eventually(f.ended).Should(Receive(Equal("default/a")))
	f.Expect(f.runner.Report(ref("run-a")).UnknownCreates).To(Equal([]string{"urn:a"}))
	phase, _ := f.runner.Look(run.Ref{ID: "run-a"})
	f.Expect(phase).To(Equal(run.Running), "it continues")

	reporter{f.runner, "run-b"}.UnknownCreates([]string{"urn:b"})
	f.Expect(f.runner.Report(ref("run-b")).UnknownCreates).To(BeEmpty(), "it is none of this runner")
	f.Consistently(f.ended, "50ms").ShouldNot(Receive())
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("default/a")))
}

// The status is written ever more rarely, so that the controller has to be notified.
func TestAStackIsNotifiedOfWhatItsRunWaitsFor(t *testing.T) {
	f := newFixture(t)
	f.Expect(f.runner.Reserve("default", "a")).To(BeTrue())
	f.Expect(f.runner.Start(run.Run{ID: "run-a", Namespace: "default", Name: "a", Timeout: time.Hour})).To(Succeed())
	for _, waiting := range []string{run.Installing, run.StartingProgram, ""} {
		reporter{f.runner, "run-a"}.Progress(run.Progress{Waiting: waiting})
		f.Eventually(f.ended).Should(Receive(Equal("default/a")))
		f.Expect(f.runner.Report(ref("run-a")).Progress.Waiting).To(Equal(waiting))
	}
	reporter{f.runner, "run-a"}.Progress(run.Progress{InFlight: 1})
	f.Consistently(f.ended, "50ms").ShouldNot(Receive(), "each resource would be a reconcile")
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("default/a")))
}

var errStop = errors.New("stop")

func TestADestroyWaitsUntilItIsNotedThatAllIsDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		patience time.Duration
		noted    run.Found
		err      error
	}{
		"noted":           {time.Hour, run.Found{Emptied: true}, nil},
		"noted too late":  {time.Millisecond, run.Found{}, errNotNoted},
		"an earlier note": {time.Millisecond, run.Found{Backend: "file:///state"}, errNotNoted},
		"asked to stop":   {time.Hour, run.Found{}, errStop},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *Options) { o.NotePatience = test.patience })
			f.Expect(f.runner.Reserve("default", "a")).To(BeTrue())
			f.Expect(f.runner.Start(run.Run{ID: "run-a", Namespace: "default", Name: "a", Timeout: time.Hour})).To(Succeed())
			f.Expect(reporter{f.runner, "run-a"}.Found(t.Context(), run.Found{Backend: "file:///state"})).To(Succeed(), "a recovery can see that for itself")
			f.Eventually(f.ended).Should(Receive(Equal("default/a")))
			ctx, stop := context.WithCancelCause(t.Context())
			if test.err == errStop {
				stop(errStop)
			}
			defer stop(nil)
			answer := make(chan error, 1)
			go func() { answer <- reporter{f.runner, "run-a"}.Found(ctx, run.Found{Emptied: true}) }()
			f.Eventually(f.ended).Should(Receive(Equal("default/a")))
			f.Expect(f.runner.Report(ref("run-a")).Found).To(Equal(run.Found{Emptied: true}))
			f.runner.ConfirmFound(ref("run-b"), test.noted) // none of this runner
			for range 2 {
				f.runner.ConfirmFound(ref("run-a"), test.noted)
			}
			var err error
			f.Eventually(answer).Should(Receive(&err))
			if test.err == nil {
				f.Expect(err).NotTo(HaveOccurred())
			} else {
				f.Expect(err).To(MatchError(test.err))
			}
			close(f.driver.open)
			f.Eventually(f.ended).Should(Receive(Equal("default/a")))
		})
	}
}
