// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// slotsOf are the slots of one pool of a Runner. It implements run.Slots.
type slotsOf struct {
	runner *Runner
	pool   *slots.Pool
}

// Reserve implements run.Slots.
func (r *Runner) Reserve(namespace, name string) bool {
	return slotsOf{r, r.slots}.Reserve(namespace, name)
}

// Release implements run.Slots.
func (r *Runner) Release(namespace, name string) { slotsOf{r, r.slots}.Release(namespace, name) }

// Postpone implements run.Slots.
func (r *Runner) Postpone(namespace, name string) { slotsOf{r, r.slots}.Postpone(namespace, name) }

// Background implements run.Runner.
func (r *Runner) Background() run.Slots { return slotsOf{r, r.background} }

// Reserve implements run.Slots. Namespaces take turns; within one, Stacks are served
// in order of request. A Stack that was deleted and recreated during its run gets a
// slot only after that run ends, and is notified then.
func (s slotsOf) Reserve(namespace, name string) bool {
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if s.runner.closed || s.runner.inFlight(stack) {
		return false
	}
	return s.pool.Reserve(stack)
}

// Release implements run.Slots. It does not free the slot of a run in flight.
func (s slotsOf) Release(namespace, name string) {
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !s.runner.inFlight(stack) {
		s.pool.Release(stack)
	}
}

// Postpone implements run.Slots. It does not free the slot of a run in flight.
func (s slotsOf) Postpone(namespace, name string) {
	s.runner.mu.Lock()
	defer s.runner.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !s.runner.inFlight(stack) {
		s.pool.Postpone(stack)
	}
}
