// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// makeAllowance is how long the objects of a run may take to be made. A run that waits for
// its retry has no slot, as one does that is tried again and again: a namespace whose
// webhook does not answer would take those of all others.
const makeAllowance = time.Minute

// unmade is the state of a run whose objects could not be made yet.
type unmade struct {
	// since is when the first try began, zero before.
	since time.Time
	// hopeless says that a try has failed since the end of the controller has begun, and
	// that the run could not be ended either.
	hopeless bool
}

// isHopeless tells whether a run is not tried to be made any more, when a try has failed.
// A controller that ends tries once.
func (u unmade) isHopeless(now time.Time, closed bool) bool {
	return closed || now.Sub(u.since) >= makeAllowance
}

// leftOf is what an earlier try has made of a run that is to be ended without it.
type leftOf string

const (
	// leftNothing is that there is no Secret, without which no pod can begin the run.
	leftNothing leftOf = "nothing"
	// leftUnclaimed is a Secret with the run in it.
	leftUnclaimed leftOf = "unclaimed"
	// leftBegun is a Secret that a pod has claimed, or that has a result: all was made.
	leftBegun leftOf = "begun"
)

// judgeUnmade tells what is left by the Secret as the API server has it, nil for none.
func judgeUnmade(secret *corev1.Secret, id string) leftOf {
	switch {
	case secret == nil || secret.Labels[RunLabel] != id:
		return leftNothing
	case len(secret.Data[exchange.ClaimKey]) > 0 || hasResult(secret):
		return leftBegun
	}
	return leftUnclaimed
}

// tryToMake is make, but for a run that cannot be made for too long: that ends, so that
// its slot is free.
func (r *Runner) tryToMake(ctx context.Context, todo run.Run) error {
	r.noteTry(todo.ID)
	err := r.make(ctx, todo)
	if err == nil || !r.isUnmakeable(todo.ID) || errors.Is(ctx.Err(), context.Canceled) {
		return err // that is the end of the lease: it is the next leader's
	}
	// The try may have taken all the time that there was.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	if notEnded := r.endUnmade(ctx, todo, err); notEnded != nil {
		r.noteHopeless(todo.ID)
		return fmt.Errorf("%w; and %w", err, notEnded)
	}
	return nil
}

func (r *Runner) noteTry(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok && known.unmade.since.IsZero() {
		known.unmade.since = time.Now()
	}
}

func (r *Runner) isUnmakeable(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	return ok && known.todo != nil && known.unmade.isHopeless(time.Now(), r.closed)
}

// noteHopeless has the end of the controller not wait for the run.
func (r *Runner) noteHopeless(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok && r.closed {
		known.unmade.hopeless = true
	}
}

// endUnmade ends a run whose objects cannot be made. A try whose answer was lost may have
// made all of it: the run is ended only where no pod can begin it any more.
func (r *Runner) endUnmade(ctx context.Context, todo run.Run, why error) error {
	k := key{todo.Namespace, todo.ID}
	secret, err := r.freshSecret(ctx, k.object())
	if err != nil {
		return err // nobody knows, as where the API server is away
	}
	ended := notBegun("the Job of the run could not be made: " + refusalText(todo.Namespace, why))
	switch judgeUnmade(secret, k.id) {
	case leftBegun:
		r.made(k.id)
		return nil
	case leftUnclaimed:
		if err := r.giveUp(ctx, secret, ended); err != nil {
			// It goes on to be tried, without keeping others from their runs.
			r.lapseUnmade(k)
			return err
		}
	}
	if err := r.removeJob(ctx, k); err != nil {
		return err
	}
	r.settle(k.id, ended)
	_, err = r.tendRestAnew(ctx, k)
	return err
}

// freshSecret is that of a run as the API server has it, nil where there is none.
func (r *Runner) freshSecret(ctx context.Context, name client.ObjectKey) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.options.Reader.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret, nil
}

// lapseUnmade gives the slot of a run to others that can be neither made nor ended. It
// has its slot again when its Job is there.
func (r *Runner) lapseUnmade(k key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k.id]; ok && known.key == k && known.todo != nil && known.counted {
		r.giveToOthers(known.stack, &known.counted, &known.overdue)
	}
}
