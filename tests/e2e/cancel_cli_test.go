// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// ended is what a command has printed on stderr, and its exit code.
type ended struct {
	Stderr string
	Exit   int
}

// begin runs a command of `flux pulumi`, whose end is to be waited for.
func begin(ctx context.Context, cli *system.FluxCLI, args ...string) <-chan ended {
	done := make(chan ended, 1)
	go func() {
		_, stderr, exit, err := cli.Run(ctx, append([]string{"pulumi"}, args...)...)
		if err != nil {
			stderr = err.Error()
		}
		done <- ended{stderr, exit}
	}()
	return done
}

// runningApp is a Stack in whose update the creation of b is held.
func (f *fluxCLI) runningApp() *v1.Stack {
	f.test.Helper()
	f.apply(f.program(firstHeld))
	stack := f.stack(fromProgram, retriedEvery(time.Second))
	f.apply(stack)
	f.awaitJournal("create", "begin", "b")
	f.Expect(f.does("get", "stacks", "app", "--no-header")).To(ContainSubstring("\tUnknown\tRunning update at revision "))
	return stack
}

// expectNoMore expects that nothing runs any more, and that the cancelled run has started nothing after b.
func (f *fluxCLI) expectNoMore() {
	f.test.Helper()
	f.Expect(f.fails("cancel", "stack", "app")).To(Equal("✗ no run of Stack app is in flight\n"))
	f.Expect(f.journal(f)).NotTo(ContainElement(HavePrefix("create begin c")))
}

func TestTheFluxCommandLineCancelsARunInFlight(t *testing.T) {
	t.Parallel()
	u := newFluxCLI(newTenant(t, shared))
	stack := u.runningApp()

	cancel := begin(u.ctx, u.cli, "cancel", "stack", "app")
	u.Eventually(u.cloud.ToldToStop).Should(BeTrue())
	u.Expect(cancel).NotTo(Receive(), "what is in flight is waited for")
	u.Expect(u.cloud.Release()).To(Succeed())
	var done ended
	u.Eventually(cancel).Should(Receive(&done))
	u.Expect(done.Exit).To(Equal(0), done.Stderr)
	u.Expect(done.Stderr).To(MatchRegexp(
		`◎ waiting for run \S+ \(update\) to end\n✔ Update of revision \S+ was cancelled on request and starts again only with a new revision`))
	u.awaitStalled(stack, v1.CancelRequestedReason, "was cancelled on request")
	u.Expect(u.does("get", "stacks", "app", "--no-header")).To(MatchRegexp(`\tFalse\tUpdate of revision \S+ was cancelled on request`))
	u.expectNoMore()
	u.Expect(u.journal(u)).To(ContainElement("create done b"), "what was in flight is finished")

	u.Expect(u.does("reconcile", "stack", "app")).To(ContainSubstring("✔ applied revision "))
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x", "c": "z"}))
}

func TestTheFluxCommandLineCancelsARunAtOnce(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newFluxCLI(newTenant(t, shared))
	stack := u.runningApp()
	u.Expect(u.does("cancel", "stack", "app", "--now")).To(MatchRegexp(`✔ Update of revision \S+ was cancelled on request`))
	u.awaitStalled(stack, v1.PendingOperationsReason, "These resources may have been created: ", "::b. ")
	u.Expect(u.does("history", "stack", "app")).To(MatchRegexp(`\tupdate +\tCancelRequested\s`))
	u.expectNoMore()
	u.Expect(u.journal(u)).NotTo(ContainElement("create done b"), "what was in flight is not waited for")
}
