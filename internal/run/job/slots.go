// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// Reserve implements run.Runner. Namespaces take turns, and the Stacks of one namespace
// are served in the order in which they asked. The Jobs of earlier controllers hold slots
// too.
func (r *Runner) Reserve(namespace, name string) bool {
	r.loadOnce()
	r.mu.Lock()
	defer r.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if r.closed || r.inFlight(stack) {
		return false
	}
	if left := r.lingeringOf(stack); len(left) > 0 {
		for _, one := range left {
			one.asked = true
		}
		return false
	}
	return r.slots.Reserve(stack)
}

// Release implements run.Runner. It does not free the slot of a run in flight, or of one
// whose pod has not ended.
func (r *Runner) Release(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !r.isBusy(stack) {
		r.slots.Release(stack)
	}
}

// Postpone implements run.Runner. Like Release, it frees no slot that is in use.
func (r *Runner) Postpone(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stack := slots.Stack{Namespace: namespace, Name: name}
	if !r.isBusy(stack) {
		r.slots.Postpone(stack)
	}
}

// Abandon implements run.Runner.
func (r *Runner) Abandon(namespace, name string) {
	r.Release(namespace, name)
	for _, ended := range r.Ended() {
		if ended.Namespace != namespace || ended.Name != name {
			continue
		}
		if err := r.Forget(ended); err != nil {
			// The garbage collector deletes what the Stack owns, and the rest is deleted later.
			r.options.Log.Error(err, "failed to delete the objects of a run", "run", ended.ID)
		}
	}
}

// inFlight reports whether the Stack has a run in flight. There are no more records than
// Stacks, as absorbing the result of a run removes its record.
func (r *Runner) inFlight(stack slots.Stack) bool {
	for _, known := range r.runs {
		if known.stack == stack && known.result == nil {
			return true
		}
	}
	return false
}

// settle publishes the result. The run keeps its slot until its pod has ended.
func (r *Runner) settle(id string, result *run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	if !ok || known.result != nil {
		return
	}
	known.result, known.lightened = lighten(result)
	known.todo = nil
	r.keep(known)
	r.options.Wake(known.stack.Namespace, known.stack.Name)
}

// settleWithoutJob publishes the result of a run for which no Job was created.
func (r *Runner) settleWithoutJob(k key, result *run.Result) {
	r.settle(k.id, result)
	r.free(k)
}
