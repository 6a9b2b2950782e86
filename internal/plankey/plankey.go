// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package plankey gets the key of the digests in plans: without it, whoever reads a digest of a
// secret could guess a weak one.
//
// Which runs need a key, and what a digest covers, does not belong here.
package plankey

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// The right to create Secrets is also for the key of plans.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create

const (
	// SecretName is the name of the Secret, and entry the name of its entry with the key.
	SecretName = "pulumi-controller-plan-key"
	entry      = "key"
	// size is the size of the key in bytes.
	size = 32
)

var errNone = errors.New("no key of plans")

// Keys gets the keys of the digests in plans. Each is derived from a random one in a Secret of the controller, which all
// its replicas and shards share and which is read each time: after a restart, the same change is
// the same plan. Without that Secret there is another key, and with it another digest of each
// plan: what waits is proposed again, and what was approved is not applied.
type Keys struct {
	Client client.Client
	// Reader reads from the API server: Secrets are not cached.
	Reader client.Reader
	// Owner is the field manager of all writes.
	Owner client.FieldOwner
	// Namespace of the controller itself. If empty, each Stack uses its own namespace.
	Namespace string
}

// WhatToDo returns what to tell a person about an error of Of, "" if it passes by itself.
func WhatToDo(err error) string {
	switch {
	case errors.Is(err, errNone):
		return err.Error()
	case apierrors.IsNotFound(err): // a controller outside of the cluster may be in a namespace that is none
		return err.Error() + ": create this namespace, or set the environment variable RUNTIME_NAMESPACE of the controller to another one"
	case apierror.IsRefused(err):
		return err.Error() + ": let the controller get and create this Secret"
	}
	return ""
}

// Of returns the key of the digests in the plans of a stack in a namespace.
func (k Keys) Of(ctx context.Context, namespace, stack string) (string, error) {
	name := client.ObjectKey{Namespace: cmp.Or(k.Namespace, namespace), Name: SecretName}
	secret, err := k.secret(ctx, name)
	if err != nil {
		return "", err
	}
	key := secret.Data[entry]
	if len(key) < size {
		return "", fmt.Errorf("%w: the Secret %s has none of %d bytes in %q: delete it, and the controller creates another", errNone, name, size, entry)
	}
	return inputs.PlanKey(key, namespace, stack), nil
}

// secret reads the Secret, or creates it.
func (k Keys) secret(ctx context.Context, name client.ObjectKey) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := k.Reader.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		if err = k.create(ctx, name); err == nil {
			err = k.Reader.Get(ctx, name, secret)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("failed to get the key of plans in Secret %s: %w", name, err)
	}
	return secret, nil
}

// create creates the Secret, unless another shard is faster.
func (k Keys) create(ctx context.Context, name client.ObjectKey) error {
	key := make([]byte, size)
	_, _ = rand.Read(key) // never fails
	err := k.Client.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Immutable:  ptr.To(true),
		Data:       map[string][]byte{entry: key},
	}, k.Owner)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return apierror.HideValues(err, []string{string(key), base64.StdEncoding.EncodeToString(key)})
}
