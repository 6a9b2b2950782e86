// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash kills things for real, at random moments, and then counts what
// exists. It belongs to no package of the product: what is checked is what a
// user would find in the cluster, in the backend and in the cloud.
package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const (
	// patience is how long a Stack may take to settle after a kill.
	patience = 3 * time.Minute
	interval = 50 * time.Millisecond
	// span is the time after the start of a run in which things are killed: the
	// program takes about as long.
	span = 2500 * time.Millisecond
)

// TestKillAtRandom is run with more rounds by night:
//
//	go test ./tests/crash -run TestKillAtRandom -rounds 200 -timeout 3h
func TestKillAtRandom(t *testing.T) {
	s := start(t)
	random := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("seed %d", *seed)
	sum := totals{}
	for n := range *rounds {
		victim := victims()[n%len(victims())]
		moment := time.Duration(random.Int64N(int64(span)))
		name := fmt.Sprintf("round %d: %s after %s", n, victim, moment.Round(time.Millisecond))
		ok := t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.SetDefaultEventuallyTimeout(patience)
			g.SetDefaultEventuallyPollingInterval(interval)
			r := &round{WithT: g, t: t, s: s, sum: &sum, name: fmt.Sprintf("round-%d", n)}
			r.play(t.Context(), victim, moment)
		})
		if !ok {
			break
		}
	}
	t.Log("\n" + sum.String())
}

var (
	rounds = flag.Int("rounds", 30, "how many rounds to play")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
)

// victim is what is killed.
type victim string

const (
	theController victim = "the controller"
	theCLI        victim = "the CLI"
	theProvider   victim = "the provider"
	allOfThem     victim = "all of them"
)

func victims() []victim { return []victim{theController, theCLI, theProvider, allOfThem} }

func start(t *testing.T) *system.System {
	t.Helper()
	dir, err := os.MkdirTemp("", "crash-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := system.Start(ctx, system.Options{Dir: dir, WithoutSources: true, ControllerArgs: []string{"--graceful-shutdown-timeout=1m"}})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		cancel()
		if !t.Failed() {
			_ = os.RemoveAll(dir) // it is in the temporary directory
		} else {
			t.Logf("what is left is in %s", dir)
		}
	})
	return s
}

// round is one round: a Stack of its own, with a backend and a cloud.
type round struct {
	*WithT
	t    *testing.T
	s    *system.System
	sum  *totals
	name string
	// program is the generation of the Program that is wanted, and wanted the
	// things in it.
	program int64
	wanted  []thing
	// named are the things that were ever named as unknown.
	named []string
}

// play kills the victim while twelve things are created, and again while some
// are changed, some deleted and some created.
func (r *round) play(ctx context.Context, v victim, moment time.Duration) {
	r.apply(ctx, things(12, "one"))
	r.killDuringRun(ctx, v, moment)
	r.settle(ctx, v)

	r.apply(ctx, append(things(8, "two"), things(16, "one")[12:]...))
	r.killDuringRun(ctx, v, moment)
	r.settle(ctx, v)

	stack := r.stack(ctx)
	r.Expect(r.s.Delete(ctx, stack)).To(Succeed())
	r.Eventually(func(g Gomega) {
		list := &v1.StackList{}
		g.Expect(r.s.List(ctx, list)).To(Succeed())
		g.Expect(list.Items).To(BeEmpty())
	}).Should(Succeed(), r.report(ctx))
	found, err := r.cloud().Things()
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(r.notNamed(found)).To(BeEmpty(), "everything that the stack knew is destroyed")
}

// stack reads the Stack of the round.
func (r *round) stack(ctx context.Context) *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: r.name}}
	r.Expect(r.s.Get(ctx, key(stack), stack)).To(Succeed())
	return stack
}

// settle waits until the Stack is Ready. Where it is stalled because it does not
// know what was created, it checks the names and then answers.
func (r *round) settle(ctx context.Context, v victim) {
	var stack *v1.Stack
	r.Eventually(func(g Gomega) {
		stack = r.stack(ctx)
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(conditions.IsStalled(stack) || r.isCurrent(stack)).To(BeTrue())
	}).Should(Succeed(), r.report(ctx))

	if conditions.IsStalled(stack) {
		r.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.PendingOperationsReason), r.report(ctx))
		r.checkNames(stack, v)
		stack.Spec.PendingCreates = v1.PendingCreatesClear
		r.Expect(r.s.Update(ctx, stack)).To(Succeed())
		r.Eventually(func(g Gomega) { g.Expect(r.isCurrent(r.stack(ctx))).To(BeTrue()) }).Should(Succeed(), r.report(ctx))
		stack = r.stack(ctx)
		stack.Spec.PendingCreates = v1.PendingCreatesStop
		r.Expect(r.s.Update(ctx, stack)).To(Succeed())
		r.Eventually(func(g Gomega) { g.Expect(r.isCurrent(r.stack(ctx))).To(BeTrue()) }).Should(Succeed(), r.report(ctx))
	}
	r.checkCloud()
	r.sum.settled++
}

// isCurrent tells whether the Stack is Ready for its own generation and for the
// Program as it is.
func (r *round) isCurrent(stack *v1.Stack) bool {
	return conditions.IsReady(stack) && stack.Status.ObservedGeneration == stack.Generation &&
		strings.HasPrefix(stack.Status.LastAppliedRevision, fmt.Sprintf("%d@", r.program))
}
