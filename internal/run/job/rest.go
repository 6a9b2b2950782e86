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

// restPatience is how long a pod may keep running once its run has a result. A pod that
// wrote the result itself ends at once, which its kubelet reports within a second or two.
// But its program has the token of the pod too, can write a result, and can keep running.
const restPatience = 20 * time.Second

// remains is what keeps running of a run that has ended: its pod. The run keeps its slot
// until the pod has ended too, because the slots limit Jobs.
type remains struct {
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
	r.rests[known.key] = &remains{stack: known.stack, since: time.Now(), counted: known.counted, overdue: known.overdue, why: restText(seen{})}
}

// free frees the slot of a run that has ended.
func (r *Runner) free(k key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.rests[k]
	if !ok {
		return
	}
	delete(r.rests, k)
	if left.asked {
		r.options.Wake(left.stack.Namespace, left.stack.Name)
	}
	if left.counted && !r.hasSlot(left.stack) {
		r.slots.Release(left.stack)
	}
}

// keeps reports whether the Stack has a run in flight, or a pod of an earlier one. The
// caller holds the lock.
func (r *Runner) keeps(stack slots.Stack) bool {
	return r.inFlight(stack) || len(r.restsOf(stack)) > 0
}

// restsOf returns the remains that a Stack waits for, whether they still hold its slot or
// not. The caller holds the lock.
func (r *Runner) restsOf(stack slots.Stack) []*remains {
	var all []*remains
	for _, left := range r.rests {
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
	for _, left := range r.restsOf(slots.Stack{Namespace: namespace, Name: name}) {
		return left.why
	}
	return ""
}

// restState is the state of the remains of a run.
type restState string

const (
	// restOver: the run has no pod any more that could do anything.
	restOver restState = "over"
	// restEnds: the pod is ending by itself.
	restEnds restState = "ends"
	// restGoesOn: there is a pod, or a Job that may create one, that has to be ended.
	restGoesOn restState = "goes on"
	// restUnknown: the cache may lack the pod, so ask the API server.
	restUnknown restState = "unknown"
)

// judgeRest decides the state of the remains of a run. A pod that has ended is not
// restarted, and there is no second one.
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

// tendRest ends the pod of a run that has ended, and then frees the slot. It returns true
// while that is not done.
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
		// This gives its pods their grace period.
		if err := r.removeJob(ctx, k); err != nil {
			return true, err
		}
		return r.isWaitedFor(k), nil
	}
	return r.isWaitedFor(k), nil
}

// isWaitedFor reports whether a Stack waits for the remains of a run. If its Job is being
// deleted and nobody waits, as for a run of an earlier controller or an object that
// somebody made to look like one, there is nothing more to do, however long it stays.
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

// tendRestAnew is tendRest for a run whose objects have changed since they were read.
func (r *Runner) tendRestAnew(ctx context.Context, k key) (bool, error) {
	s, err := gather(ctx, r.options.Reader, k)
	if err != nil {
		return true, err
	}
	s.fresh = true
	return r.tendRest(ctx, k, s)
}

// sinceOf returns since when a run has only remains. Those of an earlier controller,
// which absorbed the result, hold no slot: their Stack does not record the run any more.
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

// noteRest updates what a Stack that has asked for a slot waits for.
func (r *Runner) noteRest(k key, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.rests[k]
	if !ok || left.why == why {
		return
	}
	left.why = why
	if left.asked {
		r.options.Wake(left.stack.Namespace, left.stack.Name)
	}
}

// restText returns what the next run of a Stack waits for.
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

// onlyRest reports whether the main container has ended and others are running. The pod
// itself ends some time after its last container.
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
