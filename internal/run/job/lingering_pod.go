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

// lingeringPod is the pod of a run that has ended, which may keep running. The run keeps
// its slot until the pod has ended too, because the slots limit Jobs.
type lingeringPod struct {
	// since is when this controller saw the end of the run, or the pod of a run of which
	// it knows nothing else.
	since time.Time
	// asked says that the Stack has asked for a slot since.
	asked bool
	// why says what it waits for.
	why string
}

// endLingering frees the slot of a run whose pod has ended.
func (r *Runner) endLingering(k key) {
	r.update(k, func(known *record) {
		if known.lingering == nil {
			return
		}
		if known.lingering.asked {
			r.wake(known)
		}
		known.lingering = nil
		r.freeSlot(known)
		known.slot = slot{}
	})
}

// WaitsFor returns what keeps a Stack from its next run, apart from runs of other Stacks.
// Empty means nothing.
func (r *Runner) WaitsFor(namespace, name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.runs {
		if known.stack == (slots.Stack{Namespace: namespace, Name: name}) && known.lingering != nil && known.blocksStack() {
			return known.lingering.why
		}
	}
	return ""
}

// lingeringState is the state of the pod of a run that has ended.
type lingeringState string

const (
	// podGone: the run has no pod any more that could do anything.
	podGone lingeringState = "gone"
	// podEnding: the pod is ending by itself.
	podEnding lingeringState = "ending"
	// podRunning: there is a pod, or a Job that may create one, that has to be ended.
	podRunning lingeringState = "running"
	// podUnknown: the cache may lack the pod, so ask the API server.
	podUnknown lingeringState = "unknown"
)

// stateOfLingering returns the state of the pod of a run that has ended. A pod that has
// ended is not restarted, and there is no second one.
func stateOfLingering(s seen, since time.Time) lingeringState {
	switch {
	case slices.ContainsFunc(s.pods, isAlive):
		aside := s.secret == nil && slices.ContainsFunc(s.pods, onlySidecars) // a mesh would hold up the next run
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

// reconcileLingering ends the pod of a run that has ended, and then frees the slot. It
// returns true while that is not done.
func (r *Runner) reconcileLingering(ctx context.Context, k key, s seen) (bool, error) {
	since := r.lingeringSince(k, s)
	if since.IsZero() {
		return false, nil
	}
	state := stateOfLingering(s, since)
	if state == podUnknown {
		var err error
		if s, err = gatherFresh(ctx, r.options.Reader, k); err != nil {
			return true, err
		}
		state = stateOfLingering(s, since)
	}
	if state == podGone {
		r.endLingering(k)
		return false, nil
	}
	r.recordLingering(k, lingeringText(s))
	r.updateSlot(k, s)
	switch {
	case state == podEnding:
		r.queue.AddAfter(k, lingerPatience-s.now.Sub(since))
		return true, nil
	case s.job != nil && s.job.DeletionTimestamp == nil:
		// This gives its pods their grace period.
		if err := r.removeJob(ctx, k); err != nil {
			return true, err
		}
	}
	return r.isWaitedFor(k), nil
}

// isWaitedFor reports whether a Stack waits for a lingering pod. If its Job is being
// deleted and nobody waits, as for a run of an earlier controller or an object that
// someone made to look like one, there is nothing more to do, however long it stays.
func (r *Runner) isWaitedFor(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[k]
	if ok && known.blocksStack() {
		return true
	}
	if ok && known.absorbed {
		delete(r.runs, k)
	}
	return false
}

// reconcileLingeringAgain is reconcileLingering for a run whose objects have changed since
// they were read.
func (r *Runner) reconcileLingeringAgain(ctx context.Context, k key) (bool, error) {
	s, err := gatherFresh(ctx, r.options.Reader, k)
	if err != nil {
		return true, err
	}
	return r.reconcileLingering(ctx, k, s)
}

// lingeringSince returns since when all that is left of a run is a pod, zero if that is not
// so. The pod of a run of an earlier controller, which absorbed the result, holds no slot:
// its Stack does not record the run any more.
func (r *Runner) lingeringSince(k key, s seen) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k]; ok {
		if known.lingering == nil {
			return time.Time{}
		}
		return known.lingering.since
	}
	if s.secret != nil || s.job == nil || condition(s.job) != nil || s.job.DeletionTimestamp != nil || s.job.Labels[partLabel] != r.options.Part {
		return time.Time{}
	}
	r.runs[k] = &record{stack: slots.Stack{Namespace: k.namespace, Name: s.job.Annotations[stackAnnotation]}, pool: r.slots.Of(false), absorbed: true, lingering: &lingeringPod{since: s.now}}
	return s.now
}

// recordLingering updates what a Stack that has asked for a slot waits for.
func (r *Runner) recordLingering(k key, why string) {
	r.update(k, func(known *record) {
		if known.lingering == nil || known.lingering.why == why {
			return
		}
		known.lingering.why = why
		if known.lingering.asked {
			r.wake(known)
		}
	})
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
