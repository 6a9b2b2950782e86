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

// overdueAllowance is how much longer a pod without a Job keeps a slot than it may take
// to end, and how long a Job does that is suspended.
const overdueAllowance = time.Minute

// overdue tells of a run that keeps a slot in which nothing is done that ends by itself:
// its pod is there although its Job is not, or has ended it, and that does not go in the
// time that it has, as on a node that does not answer; or its Job is suspended, as in a
// queue; or its pod does not start, as where no node has room or a volume is missing; or
// nothing of it goes on, and it cannot be ended. No tenant is to keep the slots
// of all others with such pods, Jobs and Secrets. Its Stack goes on waiting for it: nothing
// is run twice.
type overdue struct {
	// why is the cause, and since when that was first seen: zero where it is not so.
	why   overdueCause
	since time.Time
	// lapsed says that the slot was given to others.
	lapsed bool
}

// lapseOverdue gives the slot of a run, or of the rest of one, to others where it keeps
// it for too long. A Job that goes on later has its slot again, whether there is one or
// not.
func (r *Runner) lapseOverdue(k key, s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stack, counted, of := r.slotOf(k)
	if of == nil {
		return
	}
	most, why := r.overdueAfter(s)
	if why != of.why {
		of.why, of.since = why, s.now
		if why == notOverdue {
			of.since = time.Time{}
		}
		if of.lapsed && mayGoOn(why) && s.job != nil && !endsPods(s.job) {
			*counted, of.lapsed = true, false
			r.slots.Take(stack)
		}
	}
	if why == notOverdue || !*counted || s.now.Sub(of.since) < most {
		return
	}
	r.giveToOthers(stack, counted, of)
}

// giveToOthers takes the slot of a run, or of the rest of one. It is called with the lock
// held.
func (r *Runner) giveToOthers(stack slots.Stack, counted *bool, of *overdue) {
	*counted, of.lapsed = false, true
	if !r.hasSlot(stack) {
		r.slots.Release(stack)
		r.offer()
	}
}

// slotOf is what is known of the slot of a run in flight, or of the rest of one: nil is
// nothing. It is called with the lock held.
func (r *Runner) slotOf(k key) (stack slots.Stack, counted *bool, of *overdue) {
	if left, ok := r.rests[k]; ok {
		return left.stack, &left.counted, &left.overdue
	}
	if known, ok := r.runs[k.id]; ok && known.key == k && known.result == nil {
		return known.stack, &known.counted, &known.overdue
	}
	return stack, nil, nil
}

// overdueCause is why a run may come to keep its slot for too long.
type overdueCause int

const (
	// notOverdue: it goes on.
	notOverdue overdueCause = iota
	// yetToStart: it goes on as soon as its pod starts.
	yetToStart
	jobSuspended
	leftByJob
	done
)

// mayGoOn tells whether it goes on, or is to.
func mayGoOn(why overdueCause) bool { return why == notOverdue || why == yetToStart }

// overdueAfter tells how long a run may keep its slot as it is seen, and why no longer.
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

// isYetToStart tells whether no pod has begun the run, which its Job is to see to.
func isYetToStart(s seen) bool {
	return s.job != nil && !endsPods(s.job) && s.secret != nil && len(s.secret.Data[exchange.ClaimKey]) == 0 && !hasResult(s.secret)
}

// isDone tells whether the API server itself has nothing that goes on of a run, or may: no
// pod, and no Job that makes one. What is left is that it cannot be ended, as where its
// Secret can be neither written nor deleted.
func isDone(s seen) bool {
	return s.fresh && !slices.ContainsFunc(s.pods, isAlive) && (s.job == nil || endsPods(s.job))
}

// isLeftByJob tells whether there is a pod whose Job is gone, or ends it.
func isLeftByJob(s seen) bool {
	return slices.ContainsFunc(s.pods, isAlive) && (s.job == nil || endsPods(s.job))
}

// endsPods tells of a Job that has ended, or is to when its pods have.
func endsPods(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailureTarget)
	})
}

// hasSlot tells whether a run of the Stack, or the rest of one, has a slot. It is
// called with the lock held.
func (r *Runner) hasSlot(stack slots.Stack) bool {
	for _, known := range r.runs {
		if known.stack == stack && known.result == nil && known.counted {
			return true
		}
	}
	for _, left := range r.rests {
		if left.stack == stack && left.counted {
			return true
		}
	}
	return false
}
