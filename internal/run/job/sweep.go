// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// sweepAgain is the backoff after a sweep that failed. It grows long: if a policy forbids
// a deletion, it does so until the policy changes.
func sweepAgain() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Second, Factor: 2, Cap: 30 * time.Minute, Steps: math.MaxInt}
}

// sweepUntilDone sweeps until everything is deleted, or ctx is done. Nothing waits for
// it: there may be as many Secrets as tenants have created.
func (r *Runner) sweepUntilDone(ctx context.Context, again wait.Backoff) {
	untilDone(ctx, again, r.options.Log, r.sweep)
}

func untilDone(ctx context.Context, again wait.Backoff, log logr.Logger, sweep func(context.Context) error) {
	// Its error is that of ctx.
	_ = again.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := sweep(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error(err, "failed to delete the Secrets of runs that no Stack records, which is retried")
		}
		return err == nil, nil
	})
}

// sweep deletes the Secrets of runs that no Stack records, which a controller leaves
// behind that ends after absorbing a result and before deleting its Secret. It lists the
// Secrets before the Stacks: a run is recorded before its Secret is created.
func (r *Runner) sweep(ctx context.Context) error {
	if r.options.InUse == nil {
		return nil
	}
	return removeUnrecorded(ctx, r.options.Cache, &corev1.SecretList{}, r.options.InUse, r.removeSwept)
}

// removeUnrecorded removes the runs that have a Secret, while no Stack records them.
func removeUnrecorded(ctx context.Context, from client.Reader, secrets client.ObjectList, inUse func(context.Context) (map[string]bool, error),
	remove func(context.Context, key) error, of ...client.ListOption,
) error {
	if err := from.List(ctx, secrets, of...); err != nil {
		return fmt.Errorf("listing the Secrets of runs: %w", err)
	}
	recorded, err := inUse(ctx)
	if err != nil {
		return err
	}
	var last error
	failed := 0
	err = meta.EachListItem(secrets, func(item runtime.Object) error {
		secret, ok := item.(client.Object)
		if !ok || ctx.Err() != nil {
			return ctx.Err()
		}
		k := key{secret.GetNamespace(), secret.GetLabels()[RunLabel]}
		// A Secret that is being deleted is waiting for a finalizer.
		if recorded[k.id] || secret.GetName() != Name(k.id) || secret.GetDeletionTimestamp() != nil {
			return nil
		}
		if err := remove(ctx, k); err != nil {
			last, failed = err, failed+1
		}
		return nil
	})
	if failed == 0 {
		return err
	}
	return fmt.Errorf("deleting the Secrets of %s: %w", plural.Of(failed, "run", "runs"), last)
}

// removeSwept deletes the Secret of a run that no Stack records, and the record of the
// run.
func (r *Runner) removeSwept(ctx context.Context, k key) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := r.remove(ctx, k); err != nil {
		return err
	}
	r.update(k, func(known *record) {
		if known.inFlight() {
			r.freeSlot(known)
			known.lingering = &lingeringPod{since: time.Now()}
		}
		known.absorb()
	})
	return nil
}
