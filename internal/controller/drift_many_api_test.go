// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/local"
)

var onOneSchedule = flag.Int("on-one-schedule", 40, "how many Stacks TestManyStacksOnOneSchedule has: 1000 with -v for docs/benchmarks.md")

const (
	// yearly leaves the Stacks alone until the test moves the clock.
	yearly = "0 0 1 1 *"
	// checksAtATime is --concurrent-drift-checks.
	checksAtATime = 2
)

// TestManyStacksOnOneSchedule has the runner of the controller, with its slots and without Pulumi, check all Stacks of one schedule,
// and counts what that writes.
func TestManyStacksOnOneSchedule(t *testing.T) {
	t.Parallel()
	s := newSchedule(t)
	due := s.times()
	first, middle, last := due[0], due[len(due)/2], due[len(due)-1]
	s.Expect(last.Sub(first)).To(And(BeNumerically("<=", drift.MaxSpread), BeNumerically(">", drift.MaxSpread/5)), "each has a time of its own")
	s.begin(first.Add(-time.Second))
	s.ends(0)

	now := len(slices.DeleteFunc(slices.Clone(due), func(at time.Time) bool { return at.After(middle) }))
	s.driver.hold()
	s.begin(middle)
	s.Eventually(func() [2]int { inFlight, waiting := s.runner.Count(); return [2]int{inFlight, waiting} }).Should(
		Equal([2]int{checksAtATime, now - checksAtATime}), "all others that are due wait")
	s.driver.release()
	s.ends(now)
	s.begin(last)
	s.ends(s.stacks - now)

	before := s.all()
	s.begin(last.AddDate(1, 0, 0).Add(drift.MaxSpread)) // all at once, as after a controller that was down
	s.ends(s.stacks)
	for i, after := range s.all() {
		s.Expect(after.Status.Drift.LastCheckedAt.Time).To(BeTemporally(">", before[i].Status.Drift.LastCheckedAt.Time))
		after.Status.Drift.LastCheckedAt = before[i].Status.Drift.LastCheckedAt
		s.Expect(after.Status).To(Equal(before[i].Status), "of the status, only the time of the check is another")
	}
	s.Expect(s.driver.most()).To(Equal(checksAtATime), "--concurrent-drift-checks")
	s.Expect(s.keys).To(Equal(1), "the first check of a namespace writes the key for digests of secret values")
}

// schedule is many Stacks with one schedule, on an API server.
type schedule struct {
	*orderedTenant
	test   *testing.T
	stacks int
	driver *checker
	runner *local.Runner
	wake   func(namespace, name string)
	events countedEvents
	// now is the time of the controller, which stands still, in seconds.
	now atomic.Int64
	// before is what had been done when the clock was moved.
	before amount
	cost   cost
	// keys counts the Secrets with a key that were written.
	keys int
}

func newSchedule(t *testing.T) *schedule {
	t.Helper()
	s := &schedule{test: t, stacks: *onOneSchedule}
	s.now.Store(time.Now().Unix())
	s.driver = &checker{now: s.clock}
	cluster := shardCluster(t, "schedule", func(r *StackReconciler) {
		s.wake = r.Runner.(*promptRunner).waker.Wake
		s.runner = local.New(local.Options{
			Dir: filepath.Join(t.TempDir(), "work"), Concurrent: 8, ConcurrentInBackground: checksAtATime, Driver: s.driver,
			Wake: s.wake, Log: logr.Discard(),
		})
		r.Runner, r.Now, r.Events = s.runner, s.clock, &s.events
	})
	t.Cleanup(func() { NewWithT(t).Expect(s.runner.Shutdown(context.Background())).To(Succeed()) })
	s.orderedTenant = cluster.tenant(t)
	for i := range s.stacks {
		s.createStack(fmt.Sprintf("app-%04d", i), inShard("schedule"), func(s *v1.Stack) { s.Spec.Drift = &v1.Drift{Schedule: yearly} })
	}
	s.eventually(func(g Gomega, stack *v1.Stack) { g.Expect(conditions.IsReady(stack)).To(BeTrue(), stack.Name) })
	return s
}

func (s *schedule) clock() time.Time { return time.Unix(s.now.Load(), 0) }

// begin moves the clock, and has the controller look at all Stacks.
func (s *schedule) begin(at time.Time) {
	s.test.Helper()
	s.before = s.amount()
	s.cost = newCost(s.test, s.orderedCluster)
	s.now.Store(at.Unix())
	for i := range s.stacks {
		s.wake(s.namespace, fmt.Sprintf("app-%04d", i))
	}
}

// ends waits until that many checks have ended, and expects that nothing else was done.
func (s *schedule) ends(checks int) {
	s.test.Helper()
	s.Eventually(func() int { return s.amount().checks - s.before.checks }).Should(BeNumerically(">=", checks))
	s.eventually(func(Gomega, *v1.Stack) {})
	done := s.amount()
	s.Expect(done.checks - s.before.checks).To(Equal(checks))
	s.Expect(done.events).To(Equal(s.before.events))
	isKey := func(line string) bool { return line == "POST /api/v1/namespaces/"+s.namespace+"/secrets" }
	all := s.requests.written()[s.before.writes:]
	written := slices.DeleteFunc(slices.Clone(all), isKey)
	s.keys += len(all) - len(written)
	s.Expect(written).To(HaveLen(2*checks), "the record of each check, and its time")
	for _, line := range written {
		s.Expect(line).To(MatchRegexp("^PATCH .*/stacks/app-[0-9]+/status$"))
	}
	s.cost.log(s.test, s.orderedCluster, checks)
}

// all are the Stacks by name.
func (s *schedule) all() []v1.Stack {
	s.test.Helper()
	var list v1.StackList
	s.Expect(s.List(s.ctx, &list, client.InNamespace(s.namespace))).To(Succeed())
	s.Expect(list.Items).To(HaveLen(s.stacks))
	slices.SortFunc(list.Items, func(a, b v1.Stack) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

// eventually waits until no run is in flight, and all Stacks are as expected.
func (s *schedule) eventually(expect func(Gomega, *v1.Stack)) {
	s.test.Helper()
	s.Eventually(func(g Gomega) {
		for _, stack := range s.all() {
			g.Expect(stack.Status.Run).To(BeNil(), stack.Name)
			expect(g, &stack)
		}
	}).WithTimeout(time.Hour).WithPolling(500 * time.Millisecond).Should(Succeed())
}

// times are when the Stacks are due for the first time, in order.
func (s *schedule) times() []time.Time {
	s.test.Helper()
	var times []time.Time
	for _, stack := range s.all() {
		of, err := drift.NewSchedule(stack.Spec.Drift, string(stack.UID))
		s.Expect(err).NotTo(HaveOccurred())
		times = append(times, of.Next(stack.CreationTimestamp.Time))
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// amount is what was done so far.
type amount struct {
	checks, writes int
	events         int64
}

func (s *schedule) amount() amount {
	return amount{checks: s.driver.checked(), writes: len(s.requests.written()), events: s.events.Load()}
}

// countedEvents counts events.
type countedEvents struct{ atomic.Int64 }

func (e *countedEvents) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
	e.Add(1)
}

// checker is in the place of Pulumi: all runs succeed at once, and checks find nothing.
type checker struct {
	now func() time.Time

	mu sync.Mutex
	// held is closed to end the checks that are held, nil if none are.
	held chan struct{}
	// checks counts those that have begun, and inFlight and highest those at a time.
	checks, inFlight, highest int
}

func (c *checker) Do(_ context.Context, _ pulumi.Directory, r run.Run, _ func(string)) run.Result {
	result := run.Result{Operation: r.Operation, Outcome: run.Succeeded, Project: run.Project{Name: "app", Runtime: "yaml"}, EndedAt: c.now()}
	if r.Operation == run.CheckDrift {
		result.Drift = &run.Drift{}
		if held := c.begin(); held != nil {
			<-held
		}
		c.end()
	}
	return result
}

func (c *checker) begin() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks++
	c.inFlight++
	c.highest = max(c.highest, c.inFlight)
	return c.held
}

func (c *checker) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
}

func (c *checker) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = make(chan struct{})
}

func (c *checker) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.held)
	c.held = nil
}

func (c *checker) checked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checks
}

func (c *checker) most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.highest
}
