// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run/places"
)

// overdueAllowance is how much longer a pod without a Job keeps a place than it may take
// to end.
const overdueAllowance = time.Minute

// overdue tells of a pod that is there although its Job is not, or has ended it. One that
// does not go in the time that it has is on a node that does not answer, or is kept by
// somebody, and no tenant is to keep the places of all others with such pods. Its Stack
// goes on waiting for it: nothing is run twice.
type overdue struct {
	// since is when it was first seen, zero where the Job is there.
	since time.Time
	// lapsed says that the place was given to others.
	lapsed bool
}

// lapseOverdue gives the place of a run, or of the rest of one, to others where its pod
// should have ended for long.
func (r *Runner) lapseOverdue(k key, s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var (
		stack   places.Stack
		counted *bool
		of      *overdue
	)
	if left, ok := r.rests[k]; ok {
		stack, counted, of = left.stack, &left.counted, &left.overdue
	} else if known, ok := r.runs[k.id]; ok && known.key == k && known.result == nil {
		stack, counted, of = known.stack, &known.counted, &known.overdue
	} else {
		return
	}
	if !isLeftByJob(s) {
		of.since = time.Time{}
		return
	}
	if of.since.IsZero() {
		of.since = s.now
	}
	if !*counted || s.now.Sub(of.since) < r.options.stopping()+overdueAllowance {
		return
	}
	*counted, of.lapsed = false, true
	if !r.hasPlace(stack) {
		r.slots.Release(stack)
		r.offer()
	}
}

// isLeftByJob tells whether there is a pod whose Job is gone, or ends it.
func isLeftByJob(s seen) bool {
	if !slices.ContainsFunc(s.pods, isAlive) {
		return false
	}
	return s.job == nil || slices.ContainsFunc(s.job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailureTarget)
	})
}

// hasPlace tells whether a run of the Stack, or the rest of one, has a place. It is
// called with the lock held.
func (r *Runner) hasPlace(stack places.Stack) bool {
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
