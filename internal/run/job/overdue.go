// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// overdueAllowance is how much longer than its grace period a pod without a Job may hold
// a slot, and how long a suspended Job may.
const overdueAllowance = time.Minute

// overdue tracks a run that holds a slot in which nothing happens: its Job is gone or has
// ended its pod, but the pod stays longer than its grace period, for example on a node
// that does not respond; its Job is suspended, for example by a queue; its pod does not
// start, because no node has room or a volume is missing; or nothing of it is running,
// and it cannot be ended. No tenant may hold the slots of all others with such objects.
// The Stack keeps waiting for the run, so nothing runs twice.
type overdue struct {
	// why is the cause, and since when it was first seen, zero for notOverdue.
	why   overdueCause
	since time.Time
	// lapsed says that the slot was freed.
	lapsed bool
}

// lapseOverdue frees the slot of a run, or of its lingering pod, that holds it for too long. If
// the Job continues later, it takes a slot again, whether one is free or not.
func (r *Runner) lapseOverdue(k key, s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stack, counted, of := r.slotOf(k)
	if of == nil {
		return
	}
	most, why := r.overdueAfter(s)
	changed := why != of.why
	if changed {
		of.why, of.since = why, s.now
		if why == notOverdue {
			of.since = time.Time{}
		}
	}
	// A run that is yet to start has lapsed for that, if nothing has changed.
	if of.lapsed && (why == notOverdue || changed && why == yetToStart) && s.job != nil && !endsPods(s.job) {
		*counted, of.lapsed = true, false
		r.slots.Take(stack)
	}
	if why == notOverdue || !*counted || s.now.Sub(of.since) < most {
		return
	}
	r.giveToOthers(stack, counted, of)
}

// giveToOthers frees the slot of a run, or of its lingering pod. The caller holds the lock.
func (r *Runner) giveToOthers(stack slots.Stack, counted *bool, of *overdue) {
	*counted, of.lapsed = false, true
	if !r.hasSlot(stack) {
		r.slots.Release(stack)
	}
}

// slotOf returns the slot of a run in flight, or of a lingering pod, nil if there is none.
// The caller holds the lock.
func (r *Runner) slotOf(k key) (stack slots.Stack, counted *bool, of *overdue) {
	if left, ok := r.lingering[k]; ok {
		return left.stack, &left.counted, &left.overdue
	}
	if known, ok := r.runs[k.id]; ok && known.key == k && known.result == nil {
		return known.stack, &known.counted, &known.overdue
	}
	return stack, nil, nil
}

// overdueCause is why a run may hold its slot for too long.
type overdueCause int

const (
	// notOverdue: the run is making progress.
	notOverdue overdueCause = iota
	// yetToStart: the run continues when its pod starts.
	yetToStart
	jobSuspended
	leftByJob
	done
)

// overdueAfter returns how long a run may hold its slot in the state that it is in, and
// the cause.
func (r *Runner) overdueAfter(s seen) (time.Duration, overdueCause) {
	switch {
	case isLeftByJob(s):
		return r.options.stopping() + overdueAllowance, leftByJob
	case isDone(s):
		return 0, done
	case isSuspended(s.job) && !slices.ContainsFunc(s.pods, isAlive):
		return overdueAllowance, jobSuspended
	case isYetToStart(s):
		return startAllowance, yetToStart
	}
	return 0, notOverdue
}

// isYetToStart reports whether no pod has claimed the run, and its Job may still have
// one.
func isYetToStart(s seen) bool {
	return s.job != nil && !endsPods(s.job) && s.secret != nil && len(s.secret.Data[exchange.ClaimKey]) == 0 && !hasResult(s.secret)
}

// isDone reports whether the API server has nothing of a run that is running or may
// start: no pod, and no Job that creates one. All that is left is that the run cannot be
// ended, because its Secret can be neither written nor deleted.
func isDone(s seen) bool {
	return s.fresh && !slices.ContainsFunc(s.pods, isAlive) && (s.job == nil || endsPods(s.job))
}

// isLeftByJob reports whether there is a pod whose Job is gone, or is ending it.
func isLeftByJob(s seen) bool {
	return slices.ContainsFunc(s.pods, isAlive) && (s.job == nil || endsPods(s.job))
}

// endsPods reports whether a Job has ended, or is ending its pods.
func endsPods(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailureTarget)
	})
}

// hasSlot reports whether a run of the Stack, or a lingering pod of one, holds a slot. The caller
// holds the lock.
func (r *Runner) hasSlot(stack slots.Stack) bool {
	for _, known := range r.runs {
		if known.stack == stack && known.result == nil && known.counted {
			return true
		}
	}
	for _, left := range r.lingering {
		if left.stack == stack && left.counted {
			return true
		}
	}
	return false
}
