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

// sweepAgain is the backoff after a sweep that failed. It grows long: if a policy forbids
// a deletion, it does so until the policy changes.
func sweepAgain() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Second, Factor: 2, Cap: 30 * time.Minute, Steps: math.MaxInt}
}

// sweepUntilDone sweeps until everything is deleted, or ctx is done. Nothing waits for
// it: there may be as many Secrets as tenants have created.
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

// sweep deletes the Secrets of runs that no Stack records, which a controller leaves
// behind that ends after absorbing a result and before deleting its Secret. It lists the
// Secrets before the Stacks: a run is recorded before its Secret is created.
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
		// A Secret that is being deleted is waiting for a finalizer.
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

// removeSwept deletes the Secret of a run that no Stack records, and the record of the
// run.
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
	// If the run has ended, its remains hold the slot, or it was freed.
	if known.result == nil && !r.keeps(known.stack) {
		r.slots.Release(known.stack)
	}
	return nil
}
