// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/silent"
)

func TestTheTimeoutHoldsForASilentServer(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"get stacks --timeout 200ms":        "context deadline exceeded",
		"reconcile stack a --timeout 200ms": "context deadline exceeded",
		"check --timeout 200ms":             "✗ check failed",
	} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			kubeconfig, _ := silent.Server(t)
			w := &world{t: t, namespace: "apps", kubeconfig: kubeconfig, env: testEnvironment()}
			ended := make(chan result, 1)
			go func() { ended <- w.start(context.Background(), line) }()
			var done result
			g.Eventually(ended, time.Minute).Should(Receive(&done))
			g.Expect(done.err).To(ContainSubstring(want))
			g.Expect(strings.Count(done.err, "deadline exceeded")).To(BeNumerically("<=", 1), done.err)
		})
	}
}

func TestCompletionGivesUpOnASilentServer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	kubeconfig, _ := silent.Server(t)
	env := testEnvironment()
	var out strings.Builder
	env.Out, env.Err = &out, &strings.Builder{}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(context.Background(), env, []string{"__complete", "--kubeconfig", kubeconfig, "get", "stacks", ""})
	}()
	g.Eventually(ended, time.Minute).Should(Receive())
	g.Expect(out.String()).To(Equal(":1\n"), "that is an error, and no names")
}

func TestAnInterruptEndsTheWaitForASilentServer(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"get stacks", "get stacks --watch", "logs -f", "check", "trace stack a"} {
		t.Run(line, func(t *testing.T) {
			g := NewWithT(t)
			kubeconfig, asked := silent.Server(t)
			w := &world{t: t, namespace: "apps", kubeconfig: kubeconfig, env: testEnvironment()}
			ctx, interrupt := context.WithCancel(t.Context())
			ended := make(chan result, 1)
			go func() { ended <- w.start(ctx, line) }()
			g.Eventually(asked, time.Minute).Should(Receive())
			interrupt()
			g.Eventually(ended, time.Minute).Should(Receive())
		})
	}
}

// mute is a terminal where nobody types.
type mute struct{}

func (mute) Read([]byte) (int, error) { select {} }

func TestTheTimeoutHoldsForASilentStdin(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := &world{t: t, namespace: "apps", kubeconfig: "absent", env: testEnvironment()}
	w.env.In = mute{}
	ended := make(chan result, 1)
	go func() {
		ended <- w.start(context.Background(), "create program a --from-file - --export --timeout 200ms")
	}()
	var done result
	g.Eventually(ended, time.Minute).Should(Receive(&done))
	g.Expect(done.exit).To(Equal(exitFailed))
	g.Expect(done.err).To(Equal("✗ reading the program: context deadline exceeded\n"))
}
