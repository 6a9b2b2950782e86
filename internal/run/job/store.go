// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// store changes the objects of runs that exist.
type store struct {
	client client.Client
	// reader reads from the API server, not from a cache.
	reader client.Reader
}

// giveUp writes the result of a run that no pod has claimed. It fails if a pod has, or
// may have: it writes only if the Secret is unchanged since it was read. If the Secret
// accepts no result, giveUp deletes it, so that there is nothing to claim.
func (s store) giveUp(ctx context.Context, secret *corev1.Secret, ended *run.Result) error {
	data, err := exchange.EncodeResult("", *ended)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": secret.UID, "resourceVersion": secret.ResourceVersion},
		"data":     map[string]any{exchange.ResultKey: data, exchange.RunKey: nil},
	})
	if err != nil {
		return fmt.Errorf("writing the end of the run: %w", err)
	}
	target := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name}}
	err = s.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), fieldOwner)
	if rejectsWrites(err) || apierrors.IsInternalError(err) { // which is that of a webhook that does not answer
		err = s.removeUnclaimed(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("writing the end of the run to Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}

// removeUnclaimed deletes the Secret of a run if it is unchanged since it was read. It
// fails if a finalizer keeps the Secret, which a pod could still claim.
func (s store) removeUnclaimed(ctx context.Context, secret *corev1.Secret) error {
	exactly := client.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion}
	target := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name}}
	if err := s.client.Delete(ctx, target, exactly); client.IgnoreNotFound(err) != nil {
		return err
	}
	there, err := s.freshSecret(ctx, client.ObjectKeyFromObject(secret)) // its labels are anybody's
	if err == nil && there != nil && there.UID == secret.UID && !isImmutable(there) {
		err = fmt.Errorf("it was deleted, and a finalizer keeps it: %s", strings.Join(there.Finalizers, ", "))
	}
	return err
}

// remove deletes the Secret of a run, and with it the objects that the Secret owns. A Job
// that has ended stays until its TTL has passed.
func (s store) remove(ctx context.Context, k key) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: Name(k.id)}}
	if err := client.IgnoreNotFound(s.client.Delete(ctx, secret)); err != nil {
		return fmt.Errorf("deleting Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}

// removeJob deletes a Job that is not needed any more, and its pods.
func (s store) removeJob(ctx context.Context, k key) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: Name(k.id)}}
	err := s.client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	return nil
}

// freshSecret reads the Secret of a run from the API server, nil if there is none.
func (s store) freshSecret(ctx context.Context, name client.ObjectKey) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := s.reader.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret, nil
}

// writeCancel writes the cancellation into the Secret. If the Secret is gone or accepts
// nothing more, which is returned as refused, it deletes the Job instead: the pod gets a
// signal, and its grace period to finish the operations in flight.
func (s store) writeCancel(ctx context.Context, k key, how exchange.Cancel) (refused, err error) {
	patch, err := json.Marshal(map[string]any{"data": map[string]any{exchange.CancelKey: []byte(how)}})
	if err != nil {
		return nil, fmt.Errorf("cancelling the run: %w", err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, Name: Name(k.id)}}
	err = s.client.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch), fieldOwner)
	if answer := err; apierrors.IsNotFound(answer) || rejectsWrites(answer) {
		if err = s.removeJob(ctx, k); err == nil && rejectsWrites(answer) {
			return answer, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cancelling the run by Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil, nil
}
