// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// A run holds a slot from its start until its pod has ended, unless nothing happens in it
// for too long: its Job is gone or has ended its pod, but the pod stays longer than its
// grace period, for example on a node that does not respond; its Job is suspended, for
// example by a queue; its pod does not start, because no node has room or a volume is
// missing; or nothing of it is running, and it cannot be ended. Without this, Kueue could
// queue no more Jobs than there are slots, and a lost node, a cluster without room or a
// tenant could hold the slots of all others. The Stack keeps waiting for the run, so
// nothing runs twice.

// slot is whether a run holds the slot of its Stack.
type slot struct {
	// held says that it does, lapsed that it did, and may again.
	held, lapsed bool
	// idle is why nothing happens in the run, and since when that was first seen, zero for
	// notIdle.
	idle  idleCause
	since time.Time
}

// idleAllowance is how much longer than its grace period a pod without a Job may hold a
// slot, and how long a suspended Job may.
const idleAllowance = time.Minute

// updateSlot frees the slot of a run, or of its lingering pod, in which nothing happens for
// too long. If the Job continues later, it takes a slot again, whether one is free or not.
func (r *Runner) updateSlot(k key, s seen) {
	r.update(k, func(known *record) {
		if !known.blocksStack() {
			return
		}
		most, why := r.idleFor(s)
		own := &known.slot
		changed := why != own.idle
		if changed {
			own.idle, own.since = why, s.now
			if why == notIdle {
				own.since = time.Time{}
			}
		}
		// A run that has not started yet has lapsed for that, if nothing has changed.
		if own.lapsed && (why == notIdle || changed && why == notStartedYet) && s.job != nil && !endsPods(s.job) {
			r.takeSlot(known)
		}
		if why != notIdle && own.held && s.now.Sub(own.since) >= most {
			r.lapseSlot(known)
		}
	})
}

// lapseSlot gives the slot of a run to others. The caller holds the lock.
func (r *Runner) lapseSlot(known *record) {
	r.freeSlot(known)
	known.slot.lapsed = true
}

// idleCause is why nothing happens in a run.
type idleCause int

const (
	// notIdle: the run is making progress.
	notIdle idleCause = iota
	// notStartedYet: the run continues when its pod starts.
	notStartedYet
	jobSuspended
	leftByJob
	done
)

// idleFor returns how long a run may hold its slot in the state that it is in, and why.
func (r *Runner) idleFor(s seen) (time.Duration, idleCause) {
	switch {
	case isLeftByJob(s):
		return r.options.stopping() + idleAllowance, leftByJob
	case isDone(s):
		return 0, done
	case isSuspended(s.job) && !slices.ContainsFunc(s.pods, isAlive):
		return idleAllowance, jobSuspended
	case isNotStartedYet(s):
		return startAllowance, notStartedYet
	}
	return 0, notIdle
}

// isNotStartedYet reports whether no pod has claimed the run, and its Job may still have
// one.
func isNotStartedYet(s seen) bool {
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
