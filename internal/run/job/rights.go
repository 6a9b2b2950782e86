// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// awaitRights waits until the controller may list the objects of runs, and returns false
// if ctx is done first. A cache would wait too, but without a word: the runs that are to
// start say why they do not.
func (r *Runner) awaitRights(ctx context.Context) bool {
	backoff := wait.Backoff{Duration: retryFirst, Factor: 2, Steps: 1000, Cap: retryMost}
	return backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := r.mayList(ctx)
		r.recordMissingRights(err)
		if err != nil {
			r.options.Log.Error(err, "runs cannot be started")
		}
		return err == nil, nil
	}) == nil
}

// mayList returns an error that says what to do if the controller may not list the objects
// of runs. Other errors pass by themselves, and the cache retries.
func (r *Runner) mayList(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	none := client.MatchingLabels{RunLabel: "none"} // the right alone is of interest
	for _, kind := range []client.ObjectList{
		metadataOf(batchv1.SchemeGroupVersion, "Job"), metadataOf(corev1.SchemeGroupVersion, "Pod"), metadataOf(corev1.SchemeGroupVersion, "Secret"),
	} {
		if err := r.options.Reader.List(ctx, kind, client.InNamespace(r.options.Namespace), none); apierrors.IsForbidden(err) {
			return fmt.Errorf("the controller may not list the objects of runs: add the component config/runner-jobs, or run it with --runner=local: %w", err)
		}
	}
	return nil
}

// recordMissingRights records why no run can be started, nil if they can be.
func (r *Runner) recordMissingRights(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missingRights = ""
	if err != nil {
		r.missingRights = oneLine(err.Error())
	}
}
