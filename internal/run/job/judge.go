// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// seen is what the cluster tells of a run that was started.
type seen struct {
	secret *corev1.Secret
	job    *batchv1.Job
	pods   []corev1.Pod
	// cancelled says that a person has asked for the end of the run.
	cancelled bool
	// withdrawn says that the run is to end unless a pod has begun it.
	withdrawn bool
	// fresh says that all of it was read from the API server itself, and the Secret
	// last: a cache may have the end of a pod before the result that it wrote, and may
	// not have yet what was just made.
	fresh bool
	now   time.Time
	// account is that of the pod, where it is known to be gone.
	account string
	// toldAt is when this controller first saw a result, zero where there is none.
	toldAt time.Time
	// waited is what the run was last seen to wait for.
	waited string
}

// verdict is where a run stands.
type verdict struct {
	told exchange.Told
	// ended is the result, nil for a run in flight.
	ended *run.Result
	// unclaimed says that no pod has begun the run yet, so that the result counts only
	// if it is written before one does.
	unclaimed bool
	// unbegun says that no pod has begun a run that is in flight.
	unbegun bool
	// freshen says that the API server is to be asked before anything is decided.
	freshen bool
}

// judge tells where a run stands. That a run has ended without a result of its own is
// proven by its pods, never guessed from time: each of them has ended, but for side cars,
// or its object is gone. Only where a pod has claimed the run has Pulumi been at work.
func judge(s seen) verdict {
	var v verdict
	if s.secret != nil {
		v.told = exchange.DecodeTold(s.secret.Data[exchange.ToldKey])
		data := s.secret.Data[exchange.ResultKey]
		if len(data) > 0 && !s.fresh {
			v.freshen = true // a cache has but that it is there
			return v
		}
		if len(data) > 0 {
			ended := resultOf(s, data)
			if waitsForReason(s, ended) {
				v.told.Progress.Waiting = "the pod of the run was told to end, and has not ended yet"
				return v
			}
			v.ended = toldToEnd(s, ended)
			return v
		}
	}
	claimed := s.secret == nil || len(s.secret.Data[exchange.ClaimKey]) > 0
	alive := slices.ContainsFunc(s.pods, mayBeAtWork)
	stuck := ""
	if alive && !claimed {
		stuck = stuckText(s.pods)
	}
	switch {
	case (s.cancelled || s.withdrawn) && !claimed:
		if !s.fresh {
			v.freshen = true
			return v
		}
		v.ended, v.unclaimed = cancelledBefore(s), true
		return v
	case alive && stuck == "", !alive && !isOver(s, claimed):
		// What the pod tells goes on, unless its node is lost.
		v.told.Progress.Waiting = cmp.Or(waitingText(s, claimed), v.told.Progress.Waiting)
		v.unbegun = !claimed
		return v
	case !s.fresh:
		v.freshen = true
		return v
	}
	ended := &run.Result{Outcome: run.PodFailed, StartedAt: startOf(s), EndedAt: s.now}
	if stuck != "" {
		ended.Message = "the pod of the run could not be started: " + stuck
	} else {
		ended.Message = deathText(s, claimed)
	}
	if claimed {
		ended.Interrupted = true
		ended.Changes, ended.UnknownCreates = v.told.Progress.Done, v.told.UnknownCreates
	}
	v.ended, v.unclaimed = ended, !claimed
	return v
}

// hasResult tells whether the pod, or a controller, has written one.
func hasResult(secret *corev1.Secret) bool {
	return secret != nil && len(secret.Data[exchange.ResultKey]) > 0
}

// cancelledBefore is the result of a run that was cancelled, or withdrawn, before a pod had
// begun it.
func cancelledBefore(s seen) *run.Result {
	if !s.cancelled {
		return withdrawnBefore(s)
	}
	message := "cancelled: " + run.ErrCancelled.Error() + "; Pulumi was not begun"
	return &run.Result{Outcome: run.Cancelled, Message: message, StartedAt: startOf(s), EndedAt: s.now}
}

// resultOf reads the result that the pod, or a controller, has written.
func resultOf(s seen, data []byte) *run.Result {
	ended, err := exchange.DecodeResult(data, s.now)
	if err != nil {
		// What the run did is in the state of its stack.
		return &run.Result{Outcome: run.PodFailed, Message: err.Error(), Interrupted: true, StartedAt: startOf(s), EndedAt: s.now}
	}
	ended.StartedAt, ended.EndedAt = later(ended.StartedAt, startOf(s)), later(ended.EndedAt, startOf(s))
	return ended
}

// later keeps what the clock of a node, or a program, has told from being of a time before
// the run: the next one is due by it, and the API server takes no year before 0.
func later(told, began time.Time) time.Time {
	if told.Before(began) {
		return began
	}
	return told
}

// toldToEnd is the result of a run that was stopped and not by a person: it is not to be
// begun again at once time after time. A program can write such a result too.
func toldToEnd(s seen, ended *run.Result) *run.Result {
	why := kubernetesText(s)
	if ended.Outcome != run.Cancelled || s.cancelled && why == "" {
		return ended
	}
	text, end := "the pod of the run was told to end", "Pulumi has finished what it had begun"
	if why = cmp.Or(why, goneText(s)); why != "" {
		text += ": " + why
	}
	if ended.Interrupted {
		end = ended.Message // it had no time to
	}
	ended.Outcome, ended.Message = run.PodFailed, text+"; "+end
	return ended
}

// kubernetesText tells why Kubernetes has ended a pod, or its Job.
func kubernetesText(s seen) string { return cmp.Or(disruptionText(s.pods), jobText(s.job)) }

// reasonPatience is how long the reason is waited for why a pod was told to end.
const reasonPatience = 20 * time.Second

// waitsForReason tells of a run that nobody has cancelled, whose pod was told to end:
// a kubelet that evicts it tells why when it has ended, after the result is written. When
// that was is this controller's to say: the clock of the pod may be wrong, and its program
// can write any time.
func waitsForReason(s seen, ended *run.Result) bool {
	return ended.Outcome == run.Cancelled && !s.cancelled && kubernetesText(s) == "" && slices.ContainsFunc(s.pods, isAlive) && s.now.Before(s.toldAt.Add(reasonPatience))
}

// isAlive tells whether anything of a pod may be at work.
func isAlive(pod corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// mayBeAtWork tells whether the run may go on in a pod. It does not in one of which only
// side cars go on: its container is not begun again.
func mayBeAtWork(pod corev1.Pod) bool { return isAlive(pod) && !onlyRest(pod) }

// isOver tells whether no pod will begin the run any more, where none is alive. A Job that
// is suspended ends its pod, and has no condition and no deadline until it is resumed: the
// next pod does not begin a run that was begun, and begins one that was not.
func isOver(s seen, claimed bool) bool {
	if isSuspended(s.job) && !claimed {
		return condition(s.job) != nil
	}
	return s.job == nil || len(s.pods) > 0 || condition(s.job) != nil || isSuspended(s.job)
}

// isSuspended tells of a Job that somebody has suspended, as a queue of Jobs does.
func isSuspended(job *batchv1.Job) bool { return job != nil && ptr.Deref(job.Spec.Suspend, false) }

// condition is that of a Job that has ended.
func condition(job *batchv1.Job) *batchv1.JobCondition {
	if job == nil {
		return nil
	}
	for i, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete) {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// startOf is when the run was started, as far as that is known.
func startOf(s seen) time.Time {
	switch {
	case s.job != nil:
		return s.job.CreationTimestamp.Time
	case s.secret != nil:
		return s.secret.CreationTimestamp.Time
	}
	return s.now
}
