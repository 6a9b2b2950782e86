// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// gather reads the objects of a run, the Secret last.
func gather(ctx context.Context, from client.Reader, k key) (seen, error) {
	s, name := seen{now: time.Now()}, k.object()
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
	secret := &corev1.Secret{}
	if err := from.Get(ctx, name, secret); client.IgnoreNotFound(err) != nil {
		return s, fmt.Errorf("reading Secret %s: %w", name, err)
	} else if err == nil {
		s.secret = secret
	}
	for _, pod := range pods.Items {
		if isOfRun(pod, k, s.secret) {
			s.pods = append(s.pods, pod)
		}
	}
	return s, nil
}

// gatherFresh is gather from the API server.
func gatherFresh(ctx context.Context, from client.Reader, k key) (seen, error) {
	s, err := gather(ctx, from, k)
	s.fresh = true
	return s, err
}

// isOfRun reports whether a pod with the label of a run belongs to it. Anyone who can
// create pods can give them any label, and a pod that never ends would keep the run from
// ending. If its Job was deleted and the pod left, the pod has no owner any more: it is
// known by the claim, or by the label of the Job controller if the Secret is gone too.
func isOfRun(pod corev1.Pod, k key, secret *corev1.Secret) bool {
	owner := metav1.GetControllerOf(&pod)
	if owner != nil && owner.Kind == "Job" && owner.Name == Name(k.id) && strings.HasPrefix(owner.APIVersion, "batch/") {
		return true
	}
	if secret == nil {
		return pod.Labels[batchv1.JobNameLabel] == Name(k.id)
	}
	claim := exchange.DecodeClaim(secret.Data[exchange.ClaimKey])
	return claim.UID != "" && claim.UID == string(pod.UID)
}

// adoptRun records a run of another controller, or of an earlier one. It returns false if
// there is nothing more to find out, or the objects are no run of a Stack. It takes the
// runs of another shard only if asked, for example after a Stack has come from there:
// nobody else would have this controller forget them.
func (r *Runner) adoptRun(ctx context.Context, k key, s seen, asked bool) (bool, error) {
	if inFlight, isKnown := r.isInFlight(k); isKnown {
		return inFlight, nil
	}
	labels, annotations := s.metadata()
	stack := slots.Stack{Namespace: k.namespace, Name: annotations[stackAnnotation]}
	isOwn := labels[partLabel] == r.options.Part
	nothingLeft := s.secret == nil && !s.mayStillRun() // a pod may be at work even if everything else was deleted
	if nothingLeft || (!isOwn && !asked) || len(validation.IsDNS1123Subdomain(stack.Name)) > 0 {
		return false, nil
	}
	recorded := run.Recorded{InFlight: true}
	if r.options.Recorded != nil {
		var err error
		recorded, err = r.options.Recorded(ctx, run.Ref{ID: k.id, Namespace: stack.Namespace, Name: stack.Name})
		if err != nil || !recorded.InFlight {
			return false, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k]; ok { // meanwhile
		return known.inFlight(), nil
	}
	// A run that is asked for belongs to a Stack that is watched here, whichever shard
	// started it: the shards change when one is added.
	found := &record{stack: stack, pool: r.poolOf(recorded.Operation)}
	if recorded.Cancelled {
		found.cancel = cancelMode(recorded.AtOnce)
	}
	r.runs[k] = found
	r.takeSlot(found)
	return true, nil
}

// isInFlight reports whether a run is in flight, if it is known.
func (r *Runner) isInFlight(k key) (inFlight, isKnown bool) {
	r.update(k, func(known *record) { inFlight, isKnown = known.inFlight(), true })
	return inFlight, isKnown
}

// mayStillRun reports whether there is a pod that has not ended, or a Job that may create one.
func (s seen) mayStillRun() bool {
	return s.job != nil && condition(s.job) == nil || slices.ContainsFunc(s.pods, isAlive)
}

// metadata returns the labels and annotations of the objects of a run.
func (s seen) metadata() (labels, annotations map[string]string) {
	switch {
	case s.secret != nil:
		return s.secret.Labels, s.secret.Annotations
	case s.job != nil:
		return s.job.Labels, s.job.Annotations
	case len(s.pods) > 0:
		return s.pods[0].Labels, s.pods[0].Annotations
	}
	return nil, nil
}

// loadOnce records the runs that exist when this controller starts, before it answers
// anything.
func (r *Runner) loadOnce() {
	r.load.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		if err := r.loadAll(ctx); err != nil {
			// Each run is found when one of its objects changes, or when it is asked for.
			r.options.Log.Error(err, "failed to find the runs in flight")
		}
	})
}

func (r *Runner) loadAll(ctx context.Context) error {
	found := map[key]bool{}
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &batchv1.JobList{}, &corev1.PodList{}} {
		if err := r.options.Cache.List(ctx, list); err != nil {
			return fmt.Errorf("listing the objects of runs: %w", err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			if object, ok := item.(client.Object); ok {
				found[key{object.GetNamespace(), object.GetLabels()[RunLabel]}] = true
			}
			return nil
		}); err != nil {
			return fmt.Errorf("reading the objects of runs: %w", err)
		}
	}
	var errs []error
	for k := range found {
		errs = append(errs, r.loadOne(ctx, k))
		r.queue.Add(k)
	}
	return errors.Join(errs...)
}

func (r *Runner) loadOne(ctx context.Context, k key) error {
	s, err := gather(ctx, r.options.Cache, k)
	if err != nil {
		return err
	}
	if known, err := r.adoptRun(ctx, k, s, false); err != nil || !known {
		return err
	}
	s, v, err := r.judge(ctx, k, s)
	switch {
	case err != nil:
		return err
	case v.ended == nil || v.unclaimed:
		r.recordReport(k, v)
		return nil
	}
	r.settle(k, v.ended)
	if stateOfLingering(s, s.now) == podGone {
		r.endLingering(k)
	}
	return nil
}

// seek asks the API server for a run that the cache does not have.
func (r *Runner) seek(k key) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	s, err := gatherFresh(ctx, r.options.Reader, k)
	if err != nil {
		return err
	}
	adopted, err := r.adoptRun(ctx, k, s, true)
	if adopted {
		r.queue.Add(k)
	}
	return err
}

// metadataOf lists only metadata, which identifies the run.
func metadataOf(version schema.GroupVersion, kind string) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(version.WithKind(kind + "List"))
	return list
}
