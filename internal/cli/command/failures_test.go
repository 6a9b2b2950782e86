// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/console"
)

// runUntil interrupts a command as soon as it has printed the text.
func (w *world) runUntil(line, text string) result {
	w.t.Helper()
	ctx, interrupt := context.WithCancel(w.t.Context())
	defer interrupt()
	errs := &stopWriter{text: text, stop: interrupt}
	env := w.env
	env.Out, env.Err = &strings.Builder{}, errs
	exit := Run(ctx, env, append(strings.Fields(line), "--kubeconfig", w.kubeconfig, "--namespace", w.namespace, "--timeout", "60s"))
	return result{line: line, err: errs.String(), exit: exit}
}

func TestFailuresAreReportedExceptThoseOfAnInterrupt(t *testing.T) {
	broken, ended := errors.New("a is broken"), fmt.Errorf("waiting for b: %w", context.Canceled)
	for name, test := range map[string]struct {
		interrupted bool
		failures    []error
		printed     string
		want        string
	}{
		"none":               {false, nil, "", ""},
		"one":                {false, []error{broken}, "", "a is broken"},
		"two":                {false, []error{broken, errors.New("c too")}, "✗ a is broken\n✗ c too\n", "2 failed"},
		"none of an end":     {true, nil, "", ""},
		"before an end":      {true, []error{broken}, "✗ a is broken\n", "1 failed"},
		"before and at once": {true, []error{broken, ended, ended}, "✗ a is broken\n", "3 failed"},
		"of the end alone":   {true, []error{ended, ended}, "", "2 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if test.interrupted {
				interrupt()
			}
			var printed strings.Builder
			s := &session{Console: console.New(&printed, false, nil)}
			err := s.tellAll(ctx, test.failures, fmt.Sprintf("%d failed", len(test.failures)))
			g.Expect(printed.String()).To(Equal(test.printed))
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(test.want))
		})
	}
}

func TestFailuresOfAnInterruptAreNotReported(t *testing.T) {
	w := newWorld(t, "interrupted")
	w.apply("reconcile")
	for _, test := range []struct{ line, until, last string }{
		{"resume stack --all --wait", "◎ waiting for Stack reconciliation", "◎ waiting for Stack reconciliation\n"},
		{"suspend stack network cluster", "► suspending stack network", "► suspending stack network in interrupted namespace\n"},
		{"check", "► checking prerequisites", "► checking prerequisites\n"},
		{"check", "► checking controllers", "► checking controllers\n"},
	} {
		g := NewWithT(t)
		done := w.runUntil(test.line, test.until)
		g.Expect(done.exit).To(Equal(exitFailed))
		g.Expect(done.err).To(HaveSuffix(test.last))
		g.Expect(done.err).NotTo(ContainSubstring("canceled"))
	}
}
