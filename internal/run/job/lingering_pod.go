// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// lingerPatience is how long a pod may keep running once its run has a result. A pod that
// wrote the result itself ends at once, which its kubelet reports within a second or two.
// But its program has the token of the pod too, can write a result, and can keep running.
const lingerPatience = 20 * time.Second

// lingeringPod is the pod of a run that has ended, which may keep running. The run keeps its slot
// until the pod has ended too, because the slots limit Jobs.
type lingeringPod struct {
	stack slots.Stack
	// since is when this controller saw the end of the run, or the pod of a run of which
	// it knows nothing else.
	since time.Time
	// counted says that it holds the slot of its Stack, and overdue that it did.
	counted bool
	overdue overdue
	// asked says that the Stack has asked for a slot since.
	asked bool
	// why says what it waits for.
	why string
}

// keep lets the pod of a run that has ended keep the slot. The caller holds the lock.
func (r *Runner) keep(known *record) {
	r.lingering[known.key] = &lingeringPod{stack: known.stack, since: time.Now(), counted: known.counted, overdue: known.overdue, why: lingeringText(seen{})}
}

// free frees the slot of a run that has ended.
func (r *Runner) free(k key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.lingering[k]
	if !ok {
		return
	}
	delete(r.lingering, k)
	if left.asked {
		r.options.Wake(left.stack.Namespace, left.stack.Name)
	}
	if left.counted && !r.hasSlot(left.stack) {
		r.slots.Release(left.stack)
	}
}

// isBusy reports whether the Stack has a run in flight, or a pod of an earlier one. The
// caller holds the lock.
func (r *Runner) isBusy(stack slots.Stack) bool {
	return r.inFlight(stack) || len(r.lingeringOf(stack)) > 0
}

// lingeringOf returns the lingering pods that a Stack waits for, whether they still hold its slot or
// not. The caller holds the lock.
func (r *Runner) lingeringOf(stack slots.Stack) []*lingeringPod {
	var all []*lingeringPod
	for _, left := range r.lingering {
		if (left.counted || left.overdue.lapsed) && left.stack == stack {
			all = append(all, left)
		}
	}
	return all
}

// WaitsFor returns what keeps a Stack from its next run, apart from runs of other Stacks.
// Empty means nothing.
func (r *Runner) WaitsFor(namespace, name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, left := range r.lingeringOf(slots.Stack{Namespace: namespace, Name: name}) {
		return left.why
	}
	return ""
}

// lingeringState is the state of the pod of a run that has ended.
type lingeringState string

const (
	// podGone: the run has no pod any more that could do anything.
	podGone lingeringState = "over"
	// podEnding: the pod is ending by itself.
	podEnding lingeringState = "ends"
	// podRunning: there is a pod, or a Job that may create one, that has to be ended.
	podRunning lingeringState = "goes on"
	// podUnknown: the cache may lack the pod, so ask the API server.
	podUnknown lingeringState = "unknown"
)

// stateOfLingering returns the state of the pod of a run that has ended. A pod that has ended is not
// restarted, and there is no second one.
func stateOfLingering(s seen, since time.Time) lingeringState {
	switch {
	case slices.ContainsFunc(s.pods, isAlive):
		aside := s.secret == nil && slices.ContainsFunc(s.pods, onlySidecars)
		if aside || s.now.Sub(since) >= lingerPatience {
			return podRunning
		}
		return podEnding
	case len(s.pods) > 0:
		return podGone
	case !s.fresh:
		return podUnknown
	case s.job != nil && condition(s.job) == nil:
		return podRunning
	}
	return podGone
}

// reconcileLingering ends the pod of a run that has ended, and then frees the slot. It returns true
// while that is not done.
func (r *Runner) reconcileLingering(ctx context.Context, k key, s seen) (bool, error) {
	since, isLeft := r.lingeringSince(k, s)
	if !isLeft {
		return false, nil
	}
	state := stateOfLingering(s, since)
	if state == podUnknown {
		var err error
		if s, err = gather(ctx, r.options.Reader, k); err != nil {
			return true, err
		}
		s.fresh = true
		state = stateOfLingering(s, since)
	}
	if state == podGone {
		r.free(k)
		return false, nil
	}
	r.recordLingering(k, lingeringText(s))
	r.lapseOverdue(k, s)
	switch {
	case state == podEnding:
		r.queue.AddAfter(k, lingerPatience-s.now.Sub(since))
		return true, nil
	case s.job != nil && s.job.DeletionTimestamp == nil:
		// This gives its pods their grace period.
		if err := r.removeJob(ctx, k); err != nil {
			return true, err
		}
		return r.isWaitedFor(k), nil
	}
	return r.isWaitedFor(k), nil
}

// isWaitedFor reports whether a Stack waits for a lingering pod. If its Job is being
// deleted and nobody waits, as for a run of an earlier controller or an object that
// somebody made to look like one, there is nothing more to do, however long it stays.
func (r *Runner) isWaitedFor(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.lingering[k]
	if ok && (left.counted || left.overdue.lapsed) {
		return true
	}
	delete(r.lingering, k)
	return false
}

// reconcileLingeringAgain is reconcileLingering for a run whose objects have changed since they were read.
func (r *Runner) reconcileLingeringAgain(ctx context.Context, k key) (bool, error) {
	s, err := gather(ctx, r.options.Reader, k)
	if err != nil {
		return true, err
	}
	s.fresh = true
	return r.reconcileLingering(ctx, k, s)
}

// lingeringSince returns since when all that is left of a run is a pod. Those of an earlier controller,
// which absorbed the result, hold no slot: their Stack does not record the run any more.
func (r *Runner) lingeringSince(k key, s seen) (since time.Time, isLeft bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left, ok := r.lingering[k]; ok {
		return left.since, true
	}
	if _, known := r.runs[k.id]; known || s.secret != nil || s.job == nil || condition(s.job) != nil || s.job.DeletionTimestamp != nil || s.job.Labels[partLabel] != r.options.Part {
		return time.Time{}, false
	}
	r.lingering[k] = &lingeringPod{stack: slots.Stack{Namespace: k.namespace, Name: s.job.Annotations[stackAnnotation]}, since: s.now}
	return s.now, true
}

// recordLingering updates what a Stack that has asked for a slot waits for.
func (r *Runner) recordLingering(k key, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.lingering[k]
	if !ok || left.why == why {
		return
	}
	left.why = why
	if left.asked {
		r.options.Wake(left.stack.Namespace, left.stack.Name)
	}
}

// lingeringText returns what the next run of a Stack waits for.
func lingeringText(s seen) string {
	const waits = "Waiting for the pod of the last run to end"
	if lost := lostNodeText(s.pods); lost != "" {
		return waits + ": " + lost
	}
	for _, pod := range s.pods {
		if isAlive(pod) && pod.DeletionTimestamp != nil {
			return fmt.Sprintf("%s: pod %s is terminating", waits, pod.Name)
		}
	}
	return waits
}

// onlySidecars reports whether the main container has ended and others are running. The pod
// itself ends some time after its last container.
func onlySidecars(pod corev1.Pod) bool {
	ended, others := false, false
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == mainContainer {
			ended = status.State.Terminated != nil
		} else if status.State.Terminated == nil {
			others = true
		}
	}
	return isAlive(pod) && ended && others
}
