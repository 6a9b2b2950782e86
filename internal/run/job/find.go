// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run/places"
)

// gather reads the objects of a run: the Secret last.
func gather(ctx context.Context, from client.Reader, k key) (seen, error) {
	s := seen{now: time.Now()}
	name := client.ObjectKey{Namespace: k.namespace, Name: Name(k.id)}
	job := &batchv1.Job{}
	if err := from.Get(ctx, name, job); client.IgnoreNotFound(err) != nil {
		return s, fmt.Errorf("reading Job %s: %w", name, err)
	} else if err == nil {
		s.job = job
	}
	pods := &corev1.PodList{}
	if err := from.List(ctx, pods, client.InNamespace(k.namespace), client.MatchingLabels{RunLabel: k.id}); err != nil {
		return s, fmt.Errorf("listing the pods of Job %s: %w", name, err)
	}
	s.pods = pods.Items
	secret := &corev1.Secret{}
	if err := from.Get(ctx, name, secret); client.IgnoreNotFound(err) != nil {
		return s, fmt.Errorf("reading Secret %s: %w", name, err)
	} else if err == nil {
		s.secret = secret
	}
	return s, nil
}

// takeNote makes a record of a run of another controller, or of one before this. It is
// false where there is nothing more to be found out.
func (r *Runner) takeNote(k key, s seen) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k.id]; ok {
		return known.result == nil
	}
	jobGoesOn := s.job != nil && condition(s.job) == nil
	if r.forgotten[k.id] && (s.secret != nil || jobGoesOn) {
		return false
	}
	if s.secret == nil && !jobGoesOn {
		delete(r.forgotten, k.id)
		return false
	}
	var labels, annotations map[string]string
	if s.secret != nil {
		labels, annotations = s.secret.Labels, s.secret.Annotations
	} else {
		labels, annotations = s.job.Labels, s.job.Annotations
	}
	found := &record{
		key: k, stack: places.Stack{Namespace: k.namespace, Name: annotations[stackAnnotation]}, counted: labels[partLabel] == r.options.Part,
	}
	r.runs[k.id] = found
	if found.counted {
		r.slots.Take(found.stack)
	}
	return true
}

// loadOnce takes note of the runs that are there when this controller begins, before
// anybody asks for one.
func (r *Runner) loadOnce() {
	r.load.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		if err := r.loadAll(ctx); err != nil {
			// Each is found when something of it changes, and asked for until then.
			r.options.Log.Error(err, "failed to find the runs in flight")
		}
	})
}

func (r *Runner) loadAll(ctx context.Context) error {
	secrets, jobs := &corev1.SecretList{}, &batchv1.JobList{}
	if err := errors.Join(r.options.Cache.List(ctx, secrets), r.options.Cache.List(ctx, jobs)); err != nil {
		return fmt.Errorf("listing the objects of runs: %w", err)
	}
	var found []key
	for i := range secrets.Items {
		found = append(found, key{secrets.Items[i].Namespace, secrets.Items[i].Labels[RunLabel]})
	}
	for i := range jobs.Items {
		found = append(found, key{jobs.Items[i].Namespace, jobs.Items[i].Labels[RunLabel]})
	}
	slices.SortFunc(found, func(a, b key) int { return compare(a, b) })
	for _, k := range slices.Compact(found) {
		s, err := gather(ctx, r.options.Cache, k)
		if err != nil {
			return err
		}
		if r.takeNote(k, s) {
			if v := judge(s); v.ended != nil && !v.unclaimed {
				r.settle(k.id, v.ended)
			} else {
				r.noteTold(k.id, v)
			}
		}
		r.queue.Add(k)
	}
	return nil
}

// seek asks the API server for a run that the cache does not have.
func (r *Runner) seek(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	secrets, jobs := &corev1.SecretList{}, &batchv1.JobList{}
	for _, list := range []client.ObjectList{secrets, jobs} {
		if err := r.options.Reader.List(ctx, list, client.InNamespace(r.options.Namespace), client.MatchingLabels{RunLabel: id}); err != nil {
			return fmt.Errorf("listing the objects of a run: %w", err)
		}
	}
	var k key
	switch {
	case len(secrets.Items) > 0:
		k = key{secrets.Items[0].Namespace, id}
	case len(jobs.Items) > 0:
		k = key{jobs.Items[0].Namespace, id}
	default:
		return nil
	}
	s, err := gather(ctx, r.options.Reader, k)
	if err != nil {
		return err
	}
	r.takeNote(k, s)
	r.queue.Add(k)
	return nil
}

func compare(a, b key) int {
	switch {
	case a == b:
		return 0
	case a.namespace < b.namespace, a.namespace == b.namespace && a.id < b.id:
		return -1
	}
	return 1
}

// sweep forgets the runs that no Stack knows of. They were listed before the Stacks
// are: a run is recorded in its Stack before anything is made for it.
func (r *Runner) sweep(ctx context.Context) {
	if r.options.InUse == nil {
		return
	}
	r.mu.Lock()
	found := make(map[string]*record, len(r.runs))
	for id, known := range r.runs {
		if known.todo == nil {
			found[id] = known
		}
	}
	r.mu.Unlock()
	inUse, err := r.options.InUse(ctx)
	if err != nil {
		r.options.Log.Error(err, "what earlier controllers left is not removed")
		return
	}
	for id, known := range found {
		if inUse[id] {
			continue
		}
		if err := r.remove(ctx, known.key); err != nil {
			r.options.Log.Error(err, "the objects of a run that no Stack knows of are left", "run", id)
			continue
		}
		r.mu.Lock()
		delete(r.runs, id)
		r.forgotten[id] = true
		r.slots.Release(known.stack)
		r.mu.Unlock()
	}
}
