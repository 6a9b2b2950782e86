// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// Cancel implements run.Runs. It gives up a run that no pod has claimed. For any other
// run it writes the request into the Secret, where the pod looks, and retries if that
// fails.
func (r *Runner) Cancel(of run.Ref, now bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[of.ID]
	if !ok || known.result != nil {
		return nil
	}
	how := cancelMode(now)
	if known.cancel == how || known.cancel == exchange.CancelNow {
		return nil // the controller cancels at each reconcile of the Stack
	}
	known.cancel = how
	r.queue.Add(known.key)
	return nil
}

func cancelMode(now bool) exchange.Cancel {
	if now {
		return exchange.CancelNow
	}
	return exchange.CancelGently
}

// cancelOf returns how the run was cancelled.
func (r *Runner) cancelOf(id string) exchange.Cancel {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return known.cancel
	}
	return exchange.NotCancelled
}

// cancelUncreated cancels a run while its objects are being created. If there is no Secret,
// there is no Job, and the run has ended. Otherwise it is treated like any other run from
// now on: a try whose answer was lost may have created everything.
func (r *Runner) cancelUncreated(ctx context.Context, k key) error {
	secret, err := r.freshSecret(ctx, k.object())
	switch {
	case err != nil:
		return err
	case stateOfCreated(secret, k.id) == nothingCreated:
		r.settleWithoutJob(k, cancelledBefore(seen{cancelled: true, now: time.Now()}))
	default:
		r.created(k.id)
	}
	return nil
}

// sendCancel passes the cancellation on to the pod, once.
func (r *Runner) sendCancel(ctx context.Context, k key, how exchange.Cancel) error {
	if how == exchange.NotCancelled || !r.mustSendCancel(k.id, how) {
		return nil
	}
	refused, err := r.writeCancel(ctx, k, how)
	if err != nil {
		return err
	}
	if refused != nil {
		r.recordFallback(k.id, fmt.Sprintf("the Secret of the run rejects the cancellation, so Job %s was deleted to end its pod: %s", Name(k.id), oneLine(refused.Error())))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k.id]; ok {
		known.sentCancel = how
	}
	return nil
}

// rejectsWrites reports whether writing to a Secret would fail in the same way again: it
// was made immutable, is full, or a policy forbids it. Anyone who can write Secrets in
// the namespace can cause that.
func rejectsWrites(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsBadRequest(err)
}

// recordFallback has the Stack report what was done because the pod could not be reached by its Secret.
func (r *Runner) recordFallback(id, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	if !ok || known.result != nil {
		return
	}
	known.fallback, known.progress.Waiting = what, what
	r.options.Wake(known.stack.Namespace, known.stack.Name)
}

// withFallback adds that to the message of the result.
func (r *Runner) withFallback(id string, ended *run.Result) *run.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	if !ok || known.fallback == "" || ended.Outcome == run.Succeeded {
		return ended
	}
	why := ended.Message
	if ended.Outcome == run.PodFailed {
		why = "its pod has written no result" // not that its Job is gone, which was just said
	}
	ended.Message = joined(known.fallback, why)
	return ended
}

// joined joins two texts, of which either may be empty.
func joined(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

func (r *Runner) mustSendCancel(id string, how exchange.Cancel) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	return ok && known.sentCancel != how
}
