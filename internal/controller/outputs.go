// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The right to write Secrets is for spec.writeOutputsToSecret.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;update;delete

// secretKeys also indexes the Stack by the Secret it writes, so that a change of that
// triggers a reconcile.
func secretKeys(stack *v1.Stack) []string {
	keys := keysOf(secretRefs)(stack)
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		keys = append(keys, stack.Namespace+"/"+to.Name)
	}
	return keys
}

// observeOutputs checks whether the Secret with the outputs is up to date. It reads from
// the API server, as for the Secrets of the inputs: they are not cached.
func (r *StackReconciler) observeOutputs(ctx context.Context, stack *v1.Stack, seen *observed) error {
	if seen.Deleting || seen.Problem != nil || !writesOutputs(stack) {
		return nil
	}
	basis := r.outputsBasis(ctx, stack)
	if _, ok := r.results.Get(stack.UID, aboutOutputs, basis); ok {
		return nil // up to date
	}
	secret, err := r.readSecret(ctx, stack.Namespace, stack.Spec.WriteOutputsToSecret.Name)
	if err != nil {
		return err
	}
	if seen.Outputs, err = outputsOf(stack, secret); err == nil && seen.Outputs == (decide.Outputs{}) {
		r.results.Keep(stack.UID, aboutOutputs, basis, observe.Result{})
	}
	return err
}

// readSecret returns nil if there is no such Secret.
func (r *StackReconciler) readSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read Secret %s/%s: %w", namespace, name, err)
	}
	return secret, nil
}

// deleteFormerOutputs deletes a Secret that was written and that the spec no longer names.
func (r *StackReconciler) deleteFormerOutputs(ctx context.Context, stack *v1.Stack) error {
	told := stack.Status.OutputsSecret
	if err := r.deleteOrLeave(ctx, stack, told.Name); err != nil {
		return err
	}
	return r.patchStatus(ctx, stack, func() {
		stack.Status.OutputsSecret = nil
		markEdited(stack, fmt.Sprintf("Released Secret %s, which spec.writeOutputsToSecret no longer names", told.Name))
	})
}

// releaseOutputs deletes the Secret of a Stack that goes. The garbage collector would
// keep it if the Stack is deleted with orphaned dependents, and leave secrets without an
// owner.
func (r *StackReconciler) releaseOutputs(ctx context.Context, stack *v1.Stack) error {
	names := map[string]bool{}
	if told := stack.Status.OutputsSecret; told != nil {
		names[told.Name] = true
	}
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		names[to.Name] = true // it may have been written without the status
	}
	for name := range names {
		if err := r.deleteOrLeave(ctx, stack, name); err != nil {
			return err
		}
	}
	return nil
}

// deleteOrLeave deletes a Secret of the Stack. If the API server or an admission policy
// refuses that, it leaves the Secret to the garbage collector, which deletes it after the
// Stack: neither runs nor the deletion of the Stack wait for it.
func (r *StackReconciler) deleteOrLeave(ctx context.Context, stack *v1.Stack, name string) error {
	err := r.deleteSecret(ctx, stack, name)
	if !isRefused(err) {
		return err
	}
	r.leaveBehind(ctx, stack, v1.OutputsFailedReason, err)
	return nil
}

// deleteSecret deletes a Secret only if the Stack owns it. Errors contain none of its
// values.
func (r *StackReconciler) deleteSecret(ctx context.Context, stack *v1.Stack, name string) error {
	secret, err := r.readSecret(ctx, stack.Namespace, name)
	if err != nil || secret == nil || !metav1.IsControlledBy(secret, stack) {
		return err
	}
	exactly := client.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion}
	err = hideValues(client.IgnoreNotFound(r.Delete(ctx, secret, exactly)), outputs.Hidden(secret.Data, stack.Status.Outputs))
	if err != nil {
		return fmt.Errorf("failed to delete Secret %s/%s, to which outputs are no longer written: %w", stack.Namespace, name, err)
	}
	return nil
}

// handOutputs writes the outputs of a run to their Secret, and returns its status. It
// comes before the status write, so that whoever waits for the Stack to be Ready finds
// the outputs.
func (r *StackReconciler) handOutputs(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) (*v1.OutputsSecretStatus, error) {
	before := stack.Status.OutputsSecret
	kind := run.KindOfRecord(record)
	reads := kind.ReadsOutputs && (!kind.Reconciles || result.Outcome == run.Succeeded)
	if !reads || !writesOutputs(stack) || !stack.DeletionTimestamp.IsZero() {
		return before, nil
	}
	to := stack.Spec.WriteOutputsToSecret
	switch {
	case result.Plain != nil && slices.Equal(result.Plain.Wanted.Keys, to.Keys):
		shown := stack.Status.Outputs
		if kind.Reconciles && result.Outputs != nil {
			shown = shownOutputs(result) // the status is about to have them
		}
		return r.writeOutputs(ctx, stack, *result.Plain, shown, result.EndedAt)
	case !kind.Reconciles && result.Outcome != run.Succeeded && result.Outcome != run.Cancelled:
		return outputsUnreadable(stack, record, result), nil
	}
	return outputsUnread(stack), nil
}

// writeOutputs writes the Secret if the Stack owns it and it differs. It returns an error
// only if a retry with the same outputs may help. Values that the status shows in full
// need no masking.
func (r *StackReconciler) writeOutputs(ctx context.Context, stack *v1.Stack, plain run.PlainOutputs, shown map[string]apiextensionsv1.JSON,
	now time.Time,
) (*v1.OutputsSecretStatus, error) {
	to := stack.Spec.WriteOutputsToSecret
	if told := stack.Status.OutputsSecret; told != nil && told.Name != to.Name {
		// Renamed in mid-run: nothing would know of the old Secret any more.
		if err := r.deleteOrLeave(ctx, stack, told.Name); err != nil {
			return nil, err
		}
		stack = stack.DeepCopy()
		stack.Status.OutputsSecret = nil
	}
	data, err := outputs.Data(plain)
	if err != nil {
		return outputsFailed(stack, err.Error(), stack.Generation, time.Time{}), nil
	}
	before, err := r.readSecret(ctx, stack.Namespace, to.Name)
	if err != nil {
		return nil, err
	}
	if before != nil && !metav1.IsControlledBy(before, stack) {
		return outputsUnread(stack), nil // the next reconcile reports it
	}
	hidden := outputs.Hidden(data, shown)
	if before != nil {
		// The error of an admission policy may quote the old values as well.
		hidden = append(hidden, outputs.Hidden(before.Data, shown)...)
	}
	secret, err := r.putSecret(ctx, stack, before, data, hidden)
	if isRefused(err) {
		return outputsRefused(stack, err.Error()+immutableText(before), before, now), nil
	}
	if err != nil {
		return nil, err
	}
	if !contains(secret.Labels, to.Labels) || !contains(secret.Annotations, to.Annotations) {
		// It would be written again and again.
		return outputsRefused(stack, "something in the cluster changes the labels or annotations of the Secret: correct "+
			"spec.writeOutputsToSecret", secret, now), nil
	}
	digest, err := outputs.Digest(secret, *to)
	return &v1.OutputsSecretStatus{Name: to.Name, Digest: digest}, err
}

// immutableText says what to do about an immutable Secret.
func immutableText(before *corev1.Secret) string {
	if before == nil || before.Immutable == nil || !*before.Immutable {
		return ""
	}
	return ". The Secret is immutable: delete it, and the controller creates it again"
}

// putSecret creates or updates the Secret. Neither can hit a Secret that someone else has
// created in the meantime. It removes all other labels and annotations: those that the
// spec had before cannot be told from those that others added. Errors contain none of the
// hidden values.
func (r *StackReconciler) putSecret(ctx context.Context, stack *v1.Stack, before *corev1.Secret, data map[string][]byte, hidden []string) (*corev1.Secret, error) {
	to := stack.Spec.WriteOutputsToSecret
	if before == nil {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: to.Name, Labels: to.Labels, Annotations: to.Annotations},
			Type:       corev1.SecretTypeOpaque,
			Data:       data,
		}
		if err := controllerutil.SetControllerReference(stack, secret, r.Client.Scheme()); err != nil {
			return nil, fmt.Errorf("failed to own Secret %s/%s: %w", stack.Namespace, to.Name, err)
		}
		if err := hideValues(r.Create(ctx, secret, fieldOwner), hidden); err != nil {
			return nil, fmt.Errorf("failed to create Secret %s/%s: %w", stack.Namespace, to.Name, err)
		}
		return secret, nil
	}
	secret := before.DeepCopy()
	secret.Data, secret.Labels, secret.Annotations = data, to.Labels, to.Annotations
	if equality.Semantic.DeepEqual(before, secret) {
		return secret, nil
	}
	if err := hideValues(r.Update(ctx, secret, fieldOwner), hidden); err != nil {
		return nil, fmt.Errorf("failed to write Secret %s/%s: %w", stack.Namespace, to.Name, err)
	}
	return secret, nil
}

// announceOutputs announces what became of the outputs, except that the update itself
// wrote them, which is no news.
func (r *StackReconciler) announceOutputs(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, before *v1.OutputsSecretStatus) {
	told := stack.Status.OutputsSecret
	switch {
	case told == nil || equality.Semantic.DeepEqual(told, before):
	case told.Failure != nil:
		r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: v1.OutputsFailedReason, message: told.Failure.Message,
			revision: record.Revision, originRevision: record.OriginRevision})
	case !run.KindOfRecord(record).Reconciles && told.Digest != "":
		r.announce(ctx, stack, notice{kind: eventv1.EventTypeTrace, reason: meta.ReconciliationSucceededReason,
			message:  fmt.Sprintf("Wrote the outputs to Secret %s/%s", stack.Namespace, told.Name),
			revision: record.Revision, originRevision: record.OriginRevision})
	}
}
