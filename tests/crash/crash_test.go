// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash kills processes, at random and at chosen moments, and then counts what
// exists. It belongs to no package of the product: it checks what a user would find in
// the cluster, in the backend and in the cloud.
package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

var (
	rounds      = flag.Int("rounds", 30, "how many rounds to play")
	controllers = flag.Int("controllers", 3, "how many controllers they are played with, each by itself")
	together    = flag.Int("together", 2, "how many rounds a controller plays at a time")
	seed        = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
)

// TestKillAtRandom plays several rounds at a time: killing the controller in one kills it
// in all others.
func TestKillAtRandom(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	places := make(chan *place, *controllers**together)
	for range *controllers {
		p := &place{s: start(t)}
		for range *together {
			places <- p
		}
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	began := time.Now()
	t.Logf("seed %d", *seed)
	sum, playing := &totals{}, sync.WaitGroup{}
	for n := range *rounds {
		v := victims()[n%len(victims())]
		moments := [2]float64{random.Float64(), random.Float64()}
		// In two of three rounds, the creations of unknown outcome have to be named
		// first.
		clear := (n/len(victims()))%3 == 2
		p := <-places
		if sum.failed() {
			break // the totals report how many rounds were played
		}
		playing.Go(func() {
			defer func() { places <- p }()
			t.Run(fmt.Sprintf("%d: %s", n, v), func(t *testing.T) {
				t.Cleanup(func() { sum.end(t.Failed()) })
				r := &round{subject: newSubject(t, p.s, fmt.Sprintf("round-%d", n)), sum: sum, place: p, clear: clear}
				r.play(t.Context(), v, moments)
			})
		})
	}
	playing.Wait()
	text := fmt.Sprintf("killed at random, seed %d, %s:\n%s", *seed, time.Since(began).Round(time.Second), sum)
	t.Log("\n" + text)
	if err := keep(text); err != nil {
		t.Error(err)
	}
}

// keep writes the totals to where make prints them: go test prints nothing for a test
// that passes.
func keep(text string) error {
	root, err := process.RepoRoot()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "bin", "killed-at-random.txt"), []byte(text), 0o600)
}

// place is a controller on which rounds are played.
type place struct {
	s *system.System
	// restarting is held while the controller is killed and restarted.
	restarting sync.Mutex
}

// round is one round.
type round struct {
	*subject
	sum   *totals
	place *place
	// clear reports whether the Stack has pendingCreates: Clear from the start.
	clear bool
	// named are all things that were ever named as unknown.
	named []string
}

// play kills the victim while twelve things are created, and again while some are
// changed, some deleted and some created.
func (r *round) play(ctx context.Context, v victim, moments [2]float64) {
	r.killDuringRun(ctx, v, moments[0], func() {
		r.create(ctx, byFours(things(12, "one")), func(stack *v1.Stack) {
			if r.clear {
				stack.Spec.PendingCreates = v1.PendingCreatesClear
			}
		})
	})
	r.settle(ctx)

	r.killDuringRun(ctx, v, moments[1], func() {
		r.edit(ctx, byFours(append(things(8, "two"), things(16, "one")[12:]...)))
	})
	r.settle(ctx)

	r.remove(ctx)
	found, err := r.cloud().Things()
	r.Expect(err).NotTo(HaveOccurred())
	r.sum.add(func() { r.sum.namedThatExisted += len(found) })
	r.Expect(r.notNamed(found)).To(BeEmpty(), "everything that the stack knew is destroyed")
}

// settle waits until the Stack is Ready. If it is stalled on creations of unknown
// outcome, it checks their names and then clears them.
func (r *round) settle(ctx context.Context) {
	var stack *v1.Stack
	r.Eventually(func(g Gomega) {
		stack = r.stack(ctx)
		g.Expect(stack.Status.Run).To(BeNil())
		g.Expect(conditions.IsStalled(stack) || r.isCurrent(stack)).To(BeTrue())
	}).Should(Succeed(), r.report(ctx))

	if conditions.IsStalled(stack) {
		r.Expect(r.clear).To(BeFalse(), r.report(ctx))
		r.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.PendingOperationsReason), r.report(ctx))
		r.checkNames(stack)
		r.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesClear })
		r.awaitCurrent(ctx)
		r.configure(ctx, func(spec *v1.StackSpec) { spec.PendingCreates = v1.PendingCreatesStop })
		r.awaitCurrent(ctx)
	}
	if r.clear {
		r.named = append(r.named, r.namedInLog()...)
	}
	r.checkCloud()
}
