// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// createAllowance is how long creating the objects of a run may take. A run that waits for
// its retry holds no slot, but one that is being created does: a namespace whose webhook
// does not respond would take the slots of all others.
const createAllowance = time.Minute

// createRetry is the state of a run whose objects could not be created yet.
type createRetry struct {
	// runtime comes first, if the image depends on it.
	runtime runtimeRead
	// since is when the first try began, zero before that.
	since time.Time
	// hopeless says that a try has failed since the controller began to shut down, and
	// that the run could not be ended either.
	hopeless bool
}

// isHopeless reports whether to give up after a failed try. A controller that shuts down
// tries once.
func (c createRetry) isHopeless(now time.Time, closed bool) bool {
	if c.since.IsZero() {
		return closed || now.Sub(c.runtime.since) >= runtimePatience
	}
	return closed || now.Sub(c.since) >= createAllowance
}

// createdState is what earlier tries have left of a run that is to end.
type createdState string

const (
	// nothingCreated: there is no Secret, without which no pod can start the run.
	nothingCreated createdState = "nothing"
	// secretUnclaimed: there is a Secret that contains the run.
	secretUnclaimed createdState = "unclaimed"
	// secretClaimed: a pod has claimed the Secret, or it has a result, so everything was
	// created.
	secretClaimed createdState = "claimed"
)

// stateOfCreated decides what is left by the Secret that the API server has, nil for none.
func stateOfCreated(secret *corev1.Secret, id string) createdState {
	switch {
	case secret == nil || secret.Labels[RunLabel] != id:
		return nothingCreated
	case len(secret.Data[exchange.ClaimKey]) > 0 || hasResult(secret):
		return secretClaimed
	}
	return secretUnclaimed
}

// createOrGiveUp is createObjects, but ends a run that cannot be created for too long, to
// free its slot.
func (r *Runner) createOrGiveUp(ctx context.Context, todo run.Run) error {
	k := key{todo.Namespace, todo.ID}
	settings, err := r.settingsFor(ctx, k, todo)
	switch {
	case errors.Is(err, errReadingRuntime):
		return nil
	case err == nil:
		r.update(k, func(known *record) {
			if known.create.since.IsZero() {
				known.create.since = time.Now()
			}
		})
		err = r.createObjects(ctx, settings, todo)
	}
	if err == nil || !r.isCreateHopeless(k) || errors.Is(ctx.Err(), context.Canceled) {
		return err // that is the end of the lease: it is the next leader's
	}
	// The try may have used up all of its time.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	if notEnded := r.giveUpCreate(ctx, todo, err); notEnded != nil {
		r.update(k, func(known *record) { known.create.hopeless = r.closed })
		return fmt.Errorf("%w; and %w", err, notEnded)
	}
	return nil
}

func (r *Runner) isCreateHopeless(k key) bool {
	hopeless := false
	r.update(k, func(known *record) { hopeless = known.todo != nil && known.create.isHopeless(time.Now(), r.closed) })
	return hopeless
}

// giveUpCreate ends a run whose objects cannot be created. A try whose answer was lost may
// have created them all, so it ends the run only if no pod can start it any more.
func (r *Runner) giveUpCreate(ctx context.Context, todo run.Run, why error) error {
	k := key{todo.Namespace, todo.ID}
	secret, err := r.freshSecret(ctx, k.object())
	if err != nil {
		return err // nobody knows what there is
	}
	ended := notStarted("the Job of the run could not be created: " + refusalText(todo.Namespace, why))
	switch stateOfCreated(secret, k.id) {
	case secretClaimed:
		r.created(k)
		return nil
	case secretUnclaimed:
		if err := r.giveUp(ctx, secret, ended); err != nil {
			// It is retried, without holding up the runs of others. The run takes a slot again
			// when its Job exists.
			r.update(k, r.lapseSlot)
			return err
		}
	}
	if err := r.removeJob(ctx, k); err != nil {
		return err
	}
	r.settle(k, ended)
	_, err = r.reconcileLingeringAgain(ctx, k)
	return err
}
