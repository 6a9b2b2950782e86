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
	how := cancelMode(now)
	r.update(keyOf(of), func(known *record) {
		if !known.inFlight() || known.cancel == how || known.cancel == exchange.CancelNow {
			return // the controller cancels at each reconcile of the Stack
		}
		known.cancel = how
		r.queue.Add(keyOf(of))
	})
	return nil
}

func cancelMode(now bool) exchange.Cancel {
	if now {
		return exchange.CancelNow
	}
	return exchange.CancelGently
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
		r.created(k)
	}
	return nil
}

// sendCancel passes the cancellation on to the pod, once.
func (r *Runner) sendCancel(ctx context.Context, k key) error {
	known := r.get(k)
	if known.cancel == known.sentCancel {
		return nil
	}
	refused, err := r.writeCancel(ctx, k, known.cancel)
	if err != nil {
		return err
	}
	r.update(k, func(still *record) {
		still.sentCancel = known.cancel
		if refused == nil || !still.inFlight() {
			return
		}
		still.fallback = fmt.Sprintf("the Secret of the run rejects the cancellation, so Job %s was deleted to end its pod: %s", Name(k.id), oneLine(refused.Error()))
		still.report.Progress.Waiting = still.fallback
		r.wake(still)
	})
	return nil
}

// rejectsWrites reports whether writing to a Secret would fail in the same way again: it
// was made immutable, is full, or a policy forbids it. Anyone who can write Secrets in
// the namespace can cause that.
func rejectsWrites(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsBadRequest(err)
}

// withFallback adds to the message of the result what was done because the Secret rejected
// the cancellation.
func (r *Runner) withFallback(k key, ended *run.Result) *run.Result {
	fallback := r.get(k).fallback
	if fallback == "" || ended.Outcome == run.Succeeded {
		return ended
	}
	why := ended.Message
	if ended.Outcome == run.PodFailed {
		why = "its pod has written no result" // not that its Job is gone, which was just said
	}
	ended.Message = joined(fallback, why)
	return ended
}

// joined joins two texts, of which either may be empty.
func joined(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}
