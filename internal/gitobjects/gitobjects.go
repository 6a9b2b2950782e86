// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitobjects writes the GitRepository of Flux, and the Secret for it, that are kept
// for the projectRepo of a Stack. Package gitsource says what is due.
package gitobjects

import (
	"context"
	"errors"
	"fmt"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch;delete

// Keeper writes the objects.
type Keeper struct {
	// Client writes.
	client.Client
	// APIReader reads from the API server.
	APIReader client.Reader
	// Owner is the field manager of all writes.
	Owner client.FieldOwner
	// Now is the clock.
	Now func() time.Time
}

// Do does what is due. It returns the errors of objects that are no longer needed and may not
// be deleted, too: neither runs nor the deletion of the Stack wait for them.
func (k Keeper) Do(ctx context.Context, stack *v1.Stack, due *gitsource.Upkeep) (left []error, err error) {
	switch due.Verb {
	case gitsource.Write:
		return k.write(ctx, stack, due)
	case gitsource.Suspend:
		patch := client.MergeFrom(due.Repository.Before)
		return nil, client.IgnoreNotFound(k.Patch(ctx, due.Repository.After.DeepCopy(), patch, k.Owner))
	case gitsource.Delete:
		return k.DeleteAll(ctx, stack)
	}
	return nil, fmt.Errorf("upkeep %q is not known", due.Verb)
}

func (k Keeper) write(ctx context.Context, stack *v1.Stack, due *gitsource.Upkeep) (left []error, err error) {
	version, left, err := k.writeSecret(ctx, stack, due)
	if err != nil || due.Repository.After == nil {
		return left, err
	}
	before, after := due.Repository.Before, due.Repository.After.DeepCopy()
	due.Ask(after, version, k.Now())
	if before == nil {
		return left, k.create(ctx, stack, after)
	}
	if equality.Semantic.DeepEqual(before, after) {
		return left, nil
	}
	// What was read may be stale, and a patch must not guess what has changed since.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return left, refused("change", after, k.Patch(ctx, after, patch, k.Owner))
}

// writeSecret creates, changes or deletes the Secret, and returns its version. A Secret in
// use that may not be deleted is left. Errors contain no credentials.
func (k Keeper) writeSecret(ctx context.Context, stack *v1.Stack, due *gitsource.Upkeep) (version string, left []error, err error) {
	before, after := due.Secret.Before, due.Secret.After
	switch {
	case before == nil && after == nil:
		return due.SecretVersion, nil, nil
	case before == nil:
		after = after.DeepCopy()
		err := apierror.HideValues(k.create(ctx, stack, after), credentialsIn(after.Data))
		return after.ResourceVersion, nil, err
	case after == nil:
		err := k.remove(ctx, before)
		if !apierror.IsRefused(err) {
			return "", nil, err
		}
		if repo := due.Repository.Before; repo != nil && repo.Spec.SecretRef != nil {
			left = append(left, err)
		}
		return "", left, nil
	}
	after = after.DeepCopy()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err = refused("change", after, k.Patch(ctx, after, patch, k.Owner))
	return after.ResourceVersion, nil, apierror.HideValues(err, credentialsIn(before.Data, after.Data))
}

// create creates an object owned by the Stack. A foreground deletion of the Stack does not
// wait until the object is gone: BlockOwnerDeletion decides only that. Kubernetes deletes
// the object at once all the same, and if the destroy needs it, it is created again.
func (k Keeper) create(ctx context.Context, stack *v1.Stack, object client.Object) error {
	if err := controllerutil.SetControllerReference(stack, object, k.Scheme(), controllerutil.WithBlockOwnerDeletion(false)); err != nil {
		return fmt.Errorf("failed to own %s: %w", client.ObjectKeyFromObject(object), err)
	}
	err := k.Create(ctx, object, k.Owner)
	if apierrors.IsAlreadyExists(err) {
		// The cache has not seen it yet; the next reconcile will.
		return apierrors.NewConflict(corev1.Resource(gitsource.KindOf(object)), object.GetName(), err)
	}
	return refused("create", object, err)
}

// remove deletes an object that the Stack owns, but not a later one of the same name.
// Errors contain no credentials.
func (k Keeper) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	err := client.IgnoreNotFound(k.Delete(ctx, object, client.Preconditions{UID: &uid}))
	if secret, ok := object.(*corev1.Secret); ok {
		err = apierror.HideValues(err, credentialsIn(secret.Data))
	}
	if err != nil {
		return fmt.Errorf("failed to delete %s %s: %w", gitsource.KindOf(object), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// DeleteAll deletes the GitRepository of the Stack and its Secret. It skips what the Stack
// does not own.
func (k Keeper) DeleteAll(ctx context.Context, stack *v1.Stack) (left []error, err error) {
	for _, kept := range []struct {
		name   string
		object client.Object
	}{
		// In the other order, the GitRepository would fail to fetch in between.
		{gitsource.Name(stack.Name), &sourcev1.GitRepository{}}, {gitsource.SecretName(stack.Name), &corev1.Secret{}},
	} {
		key, object := client.ObjectKey{Namespace: stack.Namespace, Name: kept.name}, kept.object
		found, err := gitsource.ReadOwned(ctx, k.APIReader, stack, key, object)
		var notOwned *gitsource.NotOwnedError
		if errors.As(err, &notOwned) || errors.Is(source.ReadError("", key, err), source.ErrNotServed) {
			continue
		}
		if err != nil {
			return left, fmt.Errorf("failed to read %s %s: %w", gitsource.KindOf(object), key, err)
		}
		if !found || !object.GetDeletionTimestamp().IsZero() {
			continue
		}
		err = k.remove(ctx, object)
		switch {
		case apierror.IsRefused(err):
			left = append(left, err)
		case err != nil:
			return left, err
		}
	}
	return left, nil
}
