// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// key identifies a run. Anyone can create objects with the ID of a run in another
// namespace: they are not part of it.
type key struct{ namespace, id string }

func keyOf(of run.Ref) key { return key{of.Namespace, of.ID} }

// object is the name of all objects of the run.
func (k key) object() client.ObjectKey {
	return client.ObjectKey{Namespace: k.namespace, Name: Name(k.id)}
}

// record is what the Runner knows about a run. A run is in flight until it has a result,
// then its result waits to be absorbed, and then only what is left of it counts: its
// objects, and a pod that may keep running.
type record struct {
	stack slots.Stack
	// pool has the slot.
	pool *slots.Pool
	slot slot
	// todo is the run until its objects have been created, then nil.
	todo   *run.Run
	create createRetry
	// report is the last of the pod, with what the run waits for.
	report exchange.ProgressReport
	// cancel is the cancellation that a person asked for, and sentCancel the one that was
	// written for the pod.
	cancel, sentCancel exchange.Cancel
	// unclaimed says that no pod had claimed the run at the last look, and withdrawn that
	// the run is to end unless a pod claims it.
	unclaimed, withdrawn bool
	// fallback says, for a person, what was done because the Secret rejects the cancellation.
	fallback string
	// resultSeenAt is when a result was first seen. It may not be final.
	resultSeenAt time.Time
	// result is nil while the run is in flight. If it is lightened, its outputs and lists
	// are in the Secret alone.
	result    *run.Result
	lightened bool
	// absorbed says that the result is not needed any more, unremoved that the Secret could
	// not be deleted yet.
	absorbed, unremoved bool
	// lingering is the pod of a run that has ended, nil if it has ended too.
	lingering *lingeringPod
	// failing says that the last pass over the run has failed.
	failing bool
}

// inFlight reports whether the run has not ended.
func (known *record) inFlight() bool { return known.result == nil && !known.absorbed }

// blocksStack reports whether the next run of its Stack waits for this one.
func (known *record) blocksStack() bool {
	return known.inFlight() || known.lingering != nil && (known.slot.held || known.slot.lapsed)
}

// update changes the record of a run, if there is one.
func (r *Runner) update(k key, change func(known *record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k]; ok {
		change(known)
	}
}

// get returns a copy of the record of a run, empty if there is none.
func (r *Runner) get(k key) record {
	var copied record
	r.update(k, func(known *record) { copied = *known })
	return copied
}

// wake has the Stack of a run reconciled.
func (r *Runner) wake(known *record) { r.options.Wake(known.stack.Namespace, known.stack.Name) }

// isBusy reports whether the Stack has a run in flight, or a pod of an earlier one. There
// are no more records than Stacks and objects of runs. The caller holds the lock.
func (r *Runner) isBusy(stack slots.Stack) bool {
	for _, known := range r.runs {
		if known.stack == stack && known.blocksStack() {
			return true
		}
	}
	return false
}

// settle publishes the result. The run keeps its slot until its pod has ended.
func (r *Runner) settle(k key, result *run.Result) {
	r.update(k, func(known *record) {
		if !known.inFlight() {
			return
		}
		known.result, known.lightened = lighten(result)
		known.todo = nil
		known.lingering = &lingeringPod{since: time.Now(), why: lingeringText(seen{})}
		r.wake(known)
	})
}

// settleWithoutJob publishes the result of a run for which no Job was created.
func (r *Runner) settleWithoutJob(k key, result *run.Result) {
	r.settle(k, result)
	r.endLingering(k)
}

// absorb drops the result of a run. What is left of the run is deleted later.
func (known *record) absorb() { known.todo, known.result, known.absorbed = nil, nil, true }

// drop drops the record of a run of which nothing is left in the cluster.
func (r *Runner) drop(k key, s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[k]
	if ok && known.absorbed && !known.unremoved && known.lingering == nil && s.secret == nil && !s.mayStillRun() {
		delete(r.runs, k)
	}
}
