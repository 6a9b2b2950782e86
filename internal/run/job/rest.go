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

// restPatience is how long a pod may go on when its run has a result. One that has
// written the result itself ends at once, and its kubelet tells so in a second or two. A
// program can write one too, as it has the token of its pod, and go on.
const restPatience = 20 * time.Second

// remains are what goes on of a run that has ended: its pod. The slot of the run is free
// when that has ended too, as it is Jobs that the bounds on runs are about.
type remains struct {
	stack slots.Stack
	// since is when this controller saw the end of the run, or the pod of one that it
	// knows nothing else of.
	since time.Time
	// counted says that it keeps the slot of its Stack, and overdue that it did.
	counted bool
	overdue overdue
	// asked says that the Stack has asked for a slot since.
	asked bool
	// why tells what it waits for.
	why string
}

// keep has the rest of a run keep its slot. It is called with the lock held.
func (r *Runner) keep(known *record) {
	r.rests[known.key] = &remains{stack: known.stack, since: time.Now(), counted: known.counted, overdue: known.overdue, why: restText(seen{})}
}

// free gives the slot of a run that has ended to the next.
func (r *Runner) free(k key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.rests[k]
	if !ok {
		return
	}
	delete(r.rests, k)
	if left.counted && !r.hasSlot(left.stack) {
		r.slots.Release(left.stack)
	}
	if left.asked {
		r.options.Ended(left.stack.Namespace, left.stack.Name)
	}
	r.offer()
}

// keeps tells whether a run of the Stack, or the rest of one, has its slot. It is
// called with the lock held.
func (r *Runner) keeps(stack slots.Stack) bool {
	return r.inFlight(stack) || len(r.restsOf(stack)) > 0
}

// restsOf are those that a Stack waits for, whether they keep its slot still or not. It is called with the lock held.
func (r *Runner) restsOf(stack slots.Stack) []*remains {
	var all []*remains
	for _, left := range r.rests {
		if (left.counted || left.overdue.lapsed) && left.stack == stack {
			all = append(all, left)
		}
	}
	return all
}

// WaitsFor tells what keeps a Stack from its next run, beside those of other Stacks: ""
// is nothing.
func (r *Runner) WaitsFor(namespace, name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, left := range r.restsOf(slots.Stack{Namespace: namespace, Name: name}) {
		return left.why
	}
	return ""
}

// restState is where the rest of a run stands.
type restState string

const (
	// restOver is that no pod of the run is there any more that could do anything.
	restOver restState = "over"
	// restEnds is a pod that ends by itself.
	restEnds restState = "ends"
	// restGoesOn is a pod, or a Job that may make one, that is to be ended.
	restGoesOn restState = "goes on"
	// restUnknown is that the API server is to be asked: the cache may not have the pod.
	restUnknown restState = "unknown"
)

// judgeRest tells where the rest of a run stands. A pod that has ended is not begun
// again, and there is no other.
func judgeRest(s seen, since time.Time) restState {
	switch {
	case slices.ContainsFunc(s.pods, isAlive):
		aside := s.secret == nil && slices.ContainsFunc(s.pods, onlyRest)
		if aside || s.now.Sub(since) >= restPatience {
			return restGoesOn
		}
		return restEnds
	case len(s.pods) > 0:
		return restOver
	case !s.fresh:
		return restUnknown
	case s.job != nil && condition(s.job) == nil:
		return restGoesOn
	}
	return restOver
}

// tendRest has the pod of a run end that has ended itself, and gives its slot to the
// next when it has. It is true where that is yet to come.
func (r *Runner) tendRest(ctx context.Context, k key, s seen) (bool, error) {
	since, isLeft := r.sinceOf(k, s)
	if !isLeft {
		return false, nil
	}
	state := judgeRest(s, since)
	if state == restUnknown {
		var err error
		if s, err = gather(ctx, r.options.Reader, k); err != nil {
			return true, err
		}
		s.fresh = true
		state = judgeRest(s, since)
	}
	if state == restOver {
		r.free(k)
		return false, nil
	}
	r.noteRest(k, restText(s))
	r.lapseOverdue(k, s)
	switch {
	case state == restEnds:
		r.queue.AddAfter(k, restPatience-s.now.Sub(since))
		return true, nil
	case s.job != nil && s.job.DeletionTimestamp == nil:
		// Its pods are told to end, and are given their time.
		if err := r.removeJob(ctx, k); err != nil {
			return true, err
		}
		return r.isWaitedFor(k), nil
	}
	return r.isWaitedFor(k), nil
}

// isWaitedFor tells whether anybody waits for the rest of a run. One of a controller before
// this one, or one that somebody has made to look like it, whose Job is told to end, is
// nobody's: nothing more is to be done for it, however long it stays.
func (r *Runner) isWaitedFor(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.rests[k]
	if ok && (left.counted || left.overdue.lapsed) {
		return true
	}
	delete(r.rests, k)
	return false
}

// tendRestAnew is for a run whose objects were changed since they were read.
func (r *Runner) tendRestAnew(ctx context.Context, k key) (bool, error) {
	s, err := gather(ctx, r.options.Reader, k)
	if err != nil {
		return true, err
	}
	s.fresh = true
	return r.tendRest(ctx, k, s)
}

// sinceOf tells since when there is but a rest of a run. That of a controller before
// this one, whose result it has taken in, keeps no slot, as its Stack does not say any
// more that the Job is one of its runs.
func (r *Runner) sinceOf(k key, s seen) (since time.Time, isLeft bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left, ok := r.rests[k]; ok {
		return left.since, true
	}
	if _, known := r.runs[k.id]; known || s.secret != nil || s.job == nil || condition(s.job) != nil || s.job.DeletionTimestamp != nil || s.job.Labels[partLabel] != r.options.Part {
		return time.Time{}, false
	}
	r.rests[k] = &remains{stack: slots.Stack{Namespace: k.namespace, Name: s.job.Annotations[stackAnnotation]}, since: s.now}
	return s.now, true
}

// noteRest has the Stack tell what it waits for, where it asked.
func (r *Runner) noteRest(k key, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.rests[k]
	if !ok || left.why == why {
		return
	}
	left.why = why
	if left.asked {
		r.options.Ended(left.stack.Namespace, left.stack.Name)
	}
}

// restText tells what the next run of a Stack waits for.
func restText(s seen) string {
	const waits = "Waiting for the pod of the last run to end"
	if lost := lostNodeText(s.pods); lost != "" {
		return waits + ": " + lost
	}
	for _, pod := range s.pods {
		if isAlive(pod) && pod.DeletionTimestamp != nil {
			return fmt.Sprintf("%s: pod %s was told to", waits, pod.Name)
		}
	}
	return waits
}

// onlyRest tells whether the container of the run has ended and others of its pod go on.
// The pod itself ends some time after its last container.
func onlyRest(pod corev1.Pod) bool {
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
