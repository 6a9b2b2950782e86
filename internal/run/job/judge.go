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

// seen is what the cluster shows of a run.
type seen struct {
	secret *corev1.Secret
	job    *batchv1.Job
	pods   []corev1.Pod
	// cancelled says that a person cancelled the run.
	cancelled bool
	// withdrawn says that the run is to end unless a pod has claimed it.
	withdrawn bool
	// fresh says that everything was read from the API server, the Secret last. A cache
	// may show the end of a pod before the result that it wrote, and may lack what was
	// just created.
	fresh bool
	// blind says that the controller may not read Jobs and pods, so that there may be some.
	blind bool
	now   time.Time
	// resultSeenAt is when this controller first saw a result, zero if there is none.
	resultSeenAt time.Time
	// waited is what the run was last seen to wait for.
	waited string
}

// verdict says where a run stands.
type verdict struct {
	report exchange.ProgressReport
	// ended is the result, nil if the run is in flight.
	ended *run.Result
	// unclaimed says that no pod has claimed the run: a result counts only if it is written
	// before a pod does.
	unclaimed bool
	// unproven says that nothing proves whether the run is at work.
	unproven bool
	// freshen says to read from the API server before deciding anything.
	freshen bool
}

// judge decides where a run stands. A run ends without a result only if its pods prove
// it, never because time has passed: each pod has ended, except for sidecars, or its
// object is gone. Pulumi can have been at work only if a pod has claimed the run.
func judge(s seen) verdict {
	var v verdict
	if s.secret != nil {
		v.report = exchange.DecodeProgress(s.secret.Data[exchange.ProgressKey])
		data := s.secret.Data[exchange.ResultKey]
		if len(data) > 0 && !s.fresh {
			v.freshen = true // the cache knows only that there is one
			return v
		}
		if len(data) > 0 {
			ended := resultOf(s, data)
			if waitsForReason(s, ended) {
				v.report.Progress.Waiting = "the pod of the run is terminating"
				return v
			}
			v.ended = explainTermination(s, ended)
			return v
		}
	}
	claimed := s.secret == nil || len(s.secret.Data[exchange.ClaimKey]) > 0
	if s.blind && claimed {
		v.unproven = true
		return v
	}
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
		// Keep what the pod reports, unless its node is lost.
		v.report.Progress.Waiting = cmp.Or(waitingText(s, claimed), v.report.Progress.Waiting)
		v.unclaimed = !claimed
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
		ended.Changes, ended.UnknownCreates = v.report.Progress.Done, v.report.UnknownCreates
		ended.Project, ended.Backend, ended.Emptied = v.report.Found.Project, v.report.Found.Backend, v.report.Found.Emptied
	}
	v.ended, v.unclaimed = ended, !claimed
	return v
}

// hasResult reports whether the pod, or a controller, has written a result.
func hasResult(secret *corev1.Secret) bool {
	return secret != nil && len(secret.Data[exchange.ResultKey]) > 0
}

// cancelledBefore is the result of a run that was cancelled or withdrawn before a pod
// claimed it.
func cancelledBefore(s seen) *run.Result {
	if !s.cancelled {
		return withdrawnBefore(s)
	}
	message := "cancelled: " + run.ErrCancelled.Error() + "; Pulumi was not started"
	return &run.Result{Outcome: run.Cancelled, Message: message, StartedAt: startOf(s), EndedAt: s.now}
}

// resultOf decodes the result that the pod, or a controller, has written.
func resultOf(s seen, data []byte) *run.Result {
	ended, err := exchange.DecodeResult(data, s.now)
	if err != nil {
		// What the run did is in the state of its stack.
		return &run.Result{Outcome: run.PodFailed, Message: err.Error(), Interrupted: true, StartedAt: startOf(s), EndedAt: s.now}
	}
	ended.StartedAt, ended.EndedAt = later(ended.StartedAt, startOf(s)), later(ended.EndedAt, startOf(s))
	return ended
}

// later clamps a time that the pod reported to the start of the run. The next run is
// scheduled by it, and the API server rejects years before 0.
func later(reported, began time.Time) time.Time {
	if reported.Before(began) {
		return began
	}
	return reported
}

// explainTermination turns the result of a run that was stopped, but not by a person, into a
// failure, so that it is retried with backoff. A program can write such a result too.
func explainTermination(s seen, ended *run.Result) *run.Result {
	why := kubernetesText(s)
	if ended.Outcome != run.Cancelled || s.cancelled && why == "" || isWithdrawnResult(s) {
		return ended
	}
	text, end := "the pod of the run was terminated", "Pulumi finished the operations in flight"
	if why = cmp.Or(why, goneText(s)); why != "" {
		text += ": " + why
	}
	if ended.Interrupted {
		end = ended.Message // it had no time to
	}
	ended.Outcome, ended.Message = run.PodFailed, text+"; "+end
	return ended
}

// isWithdrawnResult reports whether a controller has written the result, to withdraw a run
// that no pod had claimed. A program can remove the claim, but not its own pod.
func isWithdrawnResult(s seen) bool {
	return len(s.secret.Data[exchange.ClaimKey]) == 0 && (s.withdrawn || len(s.pods) == 0)
}

// kubernetesText returns why Kubernetes has ended a pod, or its Job.
func kubernetesText(s seen) string { return cmp.Or(disruptionText(s.pods), jobText(s.job)) }

// reasonPatience is how long to wait for the reason why a pod was terminated.
const reasonPatience = 20 * time.Second

// waitsForReason reports whether a pod was terminated, nobody has cancelled its run, and
// the reason may still come: a kubelet that evicts a pod reports why once the pod has
// ended, after the result is written. The wait is measured by this controller's clock:
// the clock of the pod may be wrong, and its program can write any time.
func waitsForReason(s seen, ended *run.Result) bool {
	return ended.Outcome == run.Cancelled && !s.cancelled && !isWithdrawnResult(s) && kubernetesText(s) == "" && slices.ContainsFunc(s.pods, isAlive) && s.now.Before(s.resultSeenAt.Add(reasonPatience))
}

// isAlive reports whether any container of a pod may be running.
func isAlive(pod corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// mayBeAtWork reports whether a pod may be executing the run. A pod in which only
// sidecars are running is not: its main container is not restarted.
func mayBeAtWork(pod corev1.Pod) bool { return isAlive(pod) && !onlySidecars(pod) }

// isOver reports whether no pod will start the run any more, given that none is alive.
// Suspending a Job ends its pod, and the Job has no condition and no deadline until it
// resumes. Its next pod starts the run only if no pod has claimed it.
func isOver(s seen, claimed bool) bool {
	if isSuspended(s.job) && !claimed {
		return condition(s.job) != nil
	}
	return s.job == nil || len(s.pods) > 0 || condition(s.job) != nil || isSuspended(s.job)
}

// isSuspended reports whether someone, such as a Job queue, has suspended the Job.
func isSuspended(job *batchv1.Job) bool { return job != nil && ptr.Deref(job.Spec.Suspend, false) }

// condition returns the final condition of a Job, nil if it has not ended.
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

// startOf returns when the run was started, as far as that is known.
func startOf(s seen) time.Time {
	switch {
	case s.job != nil:
		return s.job.CreationTimestamp.Time
	case s.secret != nil:
		return s.secret.CreationTimestamp.Time
	}
	return s.now
}
