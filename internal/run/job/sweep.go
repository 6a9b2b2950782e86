// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// sweepAgain is when a sweep is made again that has failed: ever less often, as what a
// policy keeps from being deleted is kept for as long as that says.
func sweepAgain() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Second, Factor: 2, Cap: 30 * time.Minute, Steps: math.MaxInt}
}

// sweepUntilDone sweeps until all is removed, or ctx is done. Nobody waits for it: there
// may be as much to remove as tenants have made.
func (r *Runner) sweepUntilDone(ctx context.Context, again wait.Backoff) {
	for {
		err := r.sweep(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		r.options.Log.Error(err, "what earlier controllers left of runs is not removed yet, which is tried again")
		select {
		case <-ctx.Done():
			return
		case <-time.After(again.Step()):
		}
	}
}

// sweep removes what is left of runs that no Stack knows of, as after a controller that
// ended between taking in a result and removing its Secret. The Secrets are listed
// before the Stacks are: a run is recorded in its Stack before anything is made for it.
func (r *Runner) sweep(ctx context.Context) error {
	if r.options.InUse == nil {
		return nil
	}
	secrets := &corev1.SecretList{}
	if err := r.options.Cache.List(ctx, secrets); err != nil {
		return fmt.Errorf("listing the Secrets of runs: %w", err)
	}
	inUse, err := r.options.InUse(ctx)
	if err != nil {
		return err
	}
	var last error
	failed := 0
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		k := key{secret.Namespace, secret.Labels[RunLabel]}
		// One that is being deleted waits for a finalizer.
		if inUse[k.id] || secret.Name != Name(k.id) || secret.DeletionTimestamp != nil {
			continue
		}
		if err := r.removeSwept(ctx, k); err != nil {
			last, failed = err, failed+1
		}
		if ctx.Err() != nil {
			break
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("the Secrets of %d runs that no Stack knows of are left: %w", failed, last)
}

// removeSwept removes the Secret of a run that no Stack knows of, and the record of it.
func (r *Runner) removeSwept(ctx context.Context, k key) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := r.remove(ctx, k); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgotten[k] = true
	known, ok := r.runs[k.id]
	if !ok || known.key != k {
		return nil
	}
	delete(r.runs, k.id)
	// The slot of one that has ended is its rest's, or was given on.
	if known.result == nil && !r.keeps(known.stack) {
		r.slots.Release(known.stack)
		r.offer()
	}
	return nil
}
