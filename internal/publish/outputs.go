// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/outputs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The right to write Secrets is for spec.writeOutputsToSecret.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;update;delete

// OutputsResult is what became of outputs. It is empty if the Secret is someone else's.
type OutputsResult struct {
	// Digest of the Secret, if it has the outputs.
	Digest string
	// Invalid is why no Secret can have these outputs.
	Invalid string
	// Refused is why the cluster does not take the Secret, and Secret the one that is there,
	// nil if there is none.
	Refused string
	Secret  *corev1.Secret
}

// Outputs writes the outputs to the Secret of the spec if the Stack owns it and it differs. It
// returns an error only if a retry with the same outputs may help. Values that the status
// shows in full need no masking.
func (p Publisher) Outputs(ctx context.Context, stack *v1.Stack, plain run.PlainOutputs, shown map[string]apiextensionsv1.JSON) (OutputsResult, error) {
	to := stack.Spec.WriteOutputsToSecret
	data, err := outputs.Data(plain)
	if err != nil {
		return OutputsResult{Invalid: err.Error()}, nil
	}
	before, err := readSecret(ctx, p.Reader, stack.Namespace, to.Name)
	if err != nil || (before != nil && !metav1.IsControlledBy(before, stack)) {
		return OutputsResult{}, err
	}
	hidden := outputs.Hidden(data, shown)
	if before != nil {
		// The error of an admission policy may quote the old values as well.
		hidden = append(hidden, outputs.Hidden(before.Data, shown)...)
	}
	secret, err := p.putSecret(ctx, stack, before, data, hidden)
	if apierror.IsRefused(err) {
		return OutputsResult{Refused: err.Error() + immutableText(before), Secret: before}, nil
	}
	if err != nil {
		return OutputsResult{}, err
	}
	if !outputs.IsLabelled(secret, *to) {
		// It would be written again and again.
		return OutputsResult{
			Refused: "something in the cluster keeps changing the labels or annotations of the Secret: correct spec.writeOutputsToSecret", Secret: secret,
		}, nil
	}
	digest, err := outputs.Digest(secret, *to)
	return OutputsResult{Digest: digest}, err
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
// spec had before cannot be distinguished from those that others added. Errors contain none of the
// hidden values.
func (p Publisher) putSecret(ctx context.Context, stack *v1.Stack, before *corev1.Secret, data map[string][]byte, hidden []string) (*corev1.Secret, error) {
	to := stack.Spec.WriteOutputsToSecret
	if before == nil {
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: to.Name, Labels: to.Labels, Annotations: to.Annotations},
			Type:       corev1.SecretTypeOpaque,
			Data:       data,
		}
		if err := controllerutil.SetControllerReference(stack, secret, p.Client.Scheme()); err != nil {
			return nil, fmt.Errorf("failed to own Secret %s/%s: %w", stack.Namespace, to.Name, err)
		}
		if err := apierror.HideValues(p.Client.Create(ctx, secret, p.Owner), hidden); err != nil {
			return nil, fmt.Errorf("failed to create Secret %s/%s: %w", stack.Namespace, to.Name, err)
		}
		return secret, nil
	}
	secret := before.DeepCopy()
	secret.Data, secret.Labels, secret.Annotations = data, to.Labels, to.Annotations
	if equality.Semantic.DeepEqual(before, secret) {
		return secret, nil
	}
	if err := apierror.HideValues(p.Client.Update(ctx, secret, p.Owner), hidden); err != nil {
		return nil, fmt.Errorf("failed to write Secret %s/%s: %w", stack.Namespace, to.Name, err)
	}
	return secret, nil
}

// deleteOutputs deletes a Secret only if the Stack owns it. Errors contain none of its
// values.
func (p Publisher) deleteOutputs(ctx context.Context, stack *v1.Stack, name string) error {
	secret, err := readSecret(ctx, p.Reader, stack.Namespace, name)
	if err != nil || secret == nil || !metav1.IsControlledBy(secret, stack) {
		return err
	}
	exactly := client.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion}
	err = apierror.HideValues(client.IgnoreNotFound(p.Client.Delete(ctx, secret, exactly)), outputs.Hidden(secret.Data, stack.Status.Outputs))
	if err != nil {
		return fmt.Errorf("failed to delete Secret %s/%s, which is no longer used for outputs: %w", stack.Namespace, name, err)
	}
	return nil
}

// readSecret returns nil if there is no such Secret.
func readSecret(ctx context.Context, reader client.Reader, namespace, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read Secret %s/%s: %w", namespace, name, err)
	}
	return secret, nil
}
