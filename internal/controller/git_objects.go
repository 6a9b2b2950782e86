// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch;delete

// secretVersionAnnotation records on a GitRepository the version of its Secret for which
// a fetch was requested: source-controller does not watch Secrets.
const secretVersionAnnotation = "pulumi.com/secret-version"

// keepGit creates or updates the GitRepository of the Stack and its Secret if they
// differ, and returns the GitRepository.
func (r *StackReconciler) keepGit(ctx context.Context, stack *v1.Stack, spec sourcev1.GitRepositorySpec, data map[string][]byte) (*sourcev1.GitRepository, error) {
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.Name(stack.Name)}
	repo := &sourcev1.GitRepository{}
	found, err := r.owned(ctx, r.Client, stack, key, repo)
	var notOurs *notOursError
	switch {
	case errors.As(err, &notOurs):
		return nil, err
	case err != nil:
		return nil, source.ReadError(sourcev1.GitRepositoryKind, key, err)
	case !repo.DeletionTimestamp.IsZero():
		return nil, source.Fetching(fmt.Sprintf("GitRepository %s is being deleted: it is created again when it is gone", key))
	}
	// Before anything is created, so that any process finds it again.
	if err := r.patchStatus(ctx, stack, func() {
		if stack.Status.GitRepository != key.Name {
			stack.Status.GitRepository = key.Name
			markEdited(stack, fmt.Sprintf("Keeping GitRepository %s for spec.projectRepo", key))
		}
	}); err != nil {
		return nil, err
	}
	version, err := r.keepGitSecret(ctx, stack, data, repo.Spec.SecretRef != nil)
	if err != nil {
		return nil, err
	}
	change := func(repo *sourcev1.GitRepository) {
		repo.Spec = spec
		label(repo)
		r.ask(stack, repo, version)
	}
	if !found {
		repo = &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		change(repo)
		return repo, r.make(ctx, stack, repo)
	}
	before := repo.DeepCopy()
	change(repo)
	if equality.Semantic.DeepEqual(before, repo) {
		return repo, nil
	}
	// What was read may be stale, and a patch must not guess what has changed since.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return repo, refused("change", repo, r.Patch(ctx, repo, patch, fieldOwner))
}

// ask makes source-controller fetch at once when a run of the Stack is requested, and
// when the credentials have changed.
func (r *StackReconciler) ask(stack *v1.Stack, repo *sourcev1.GitRepository, secretVersion string) {
	annotations := maps.Clone(repo.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if repo.ResourceVersion != "" && annotations[secretVersionAnnotation] != secretVersion {
		annotations[meta.ReconcileRequestAnnotation] = r.Now().Format(time.RFC3339Nano)
	}
	if secretVersion == "" {
		delete(annotations, secretVersionAnnotation)
	} else {
		annotations[secretVersionAnnotation] = secretVersion
	}
	switch {
	case open(stack, meta.ReconcileRequestAnnotation, stack.Status.LastHandledReconcileAt):
		annotations[meta.ReconcileRequestAnnotation] = token(stack.Annotations[meta.ReconcileRequestAnnotation])
	case open(stack, v1.ReconcileRequestAnnotation, stack.Status.ObservedReconcileRequest):
		annotations[meta.ReconcileRequestAnnotation] = token(stack.Annotations[v1.ReconcileRequestAnnotation])
	}
	if len(annotations) > 0 {
		repo.Annotations = annotations
	}
}

// keepGitSecret creates, updates or, without data, deletes the Secret of the
// GitRepository, and returns its version. It announces a Secret in use that it may not
// delete. Errors contain no credentials.
func (r *StackReconciler) keepGitSecret(ctx context.Context, stack *v1.Stack, data map[string][]byte, isUsed bool) (version string, err error) {
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.SecretName(stack.Name)}
	secret := &corev1.Secret{}
	found, err := r.owned(ctx, r.APIReader, stack, key, secret)
	var notOurs *notOursError
	switch {
	case data == nil && errors.As(err, &notOurs):
		return "", nil
	case errors.As(err, &notOurs):
		return "", err
	case err != nil:
		return "", fmt.Errorf("failed to read Secret %s: %w", key, err)
	case data == nil && found:
		err := r.remove(ctx, secret)
		if isRefused(err) {
			if isUsed {
				r.leaveBehind(ctx, stack, meta.ArtifactFailedReason, err)
			}
			return "", nil
		}
		return "", err
	case data == nil:
		return "", nil
	case !found:
		secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: data}
		label(secret)
		err := hideValues(r.make(ctx, stack, secret), credentialsIn(data))
		return secret.ResourceVersion, err
	}
	before := secret.DeepCopy()
	secret.Data = data
	label(secret)
	if !equality.Semantic.DeepEqual(before, secret) {
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err = hideValues(refused("change", secret, r.Patch(ctx, secret, patch, fieldOwner)), credentialsIn(before.Data, data))
	}
	return secret.ResourceVersion, err
}

// credentialsIn returns the values of git Secrets to mask in the errors of admission
// policies, also those that somebody else has put there.
func credentialsIn(all ...map[string][]byte) []string {
	var values []string
	for _, data := range all {
		for key, value := range data {
			if gitsource.IsSecret(data, key) {
				values = append(values, string(value))
			}
		}
	}
	return values
}

// owned reads an object that the Stack may own, and fails if it exists but the Stack does
// not own it.
func (r *StackReconciler) owned(ctx context.Context, reader client.Reader, stack *v1.Stack, key client.ObjectKey, object client.Object) (bool, error) {
	err := reader.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err) && !errors.Is(source.ReadError("", key, err), source.ErrNotServed):
		return false, nil
	case err != nil:
		return false, err
	case !metav1.IsControlledBy(object, stack):
		return false, &notOursError{kind: r.kindOf(object), namespace: key.Namespace, name: key.Name, stack: stack.Name}
	}
	return true, nil
}

// make creates an object owned by the Stack. A foreground deletion of the Stack does not
// wait until the object is gone: BlockOwnerDeletion decides only that. Kubernetes deletes
// the object at once all the same, and if the destroy needs it, it is created again.
func (r *StackReconciler) make(ctx context.Context, stack *v1.Stack, object client.Object) error {
	if err := controllerutil.SetControllerReference(stack, object, r.Client.Scheme(), controllerutil.WithBlockOwnerDeletion(false)); err != nil {
		return fmt.Errorf("failed to own %s: %w", client.ObjectKeyFromObject(object), err)
	}
	err := r.Create(ctx, object, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		// The cache has not seen it yet; the next reconcile will.
		return apierrors.NewConflict(corev1.Resource(r.kindOf(object)), object.GetName(), err)
	}
	return refused("create", object, err)
}

// remove deletes an object that the Stack owns, but not a later one of the same name.
// Errors contain no credentials.
func (r *StackReconciler) remove(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	err := client.IgnoreNotFound(r.Delete(ctx, object, client.Preconditions{UID: &uid}))
	if secret, ok := object.(*corev1.Secret); ok {
		err = hideValues(err, credentialsIn(secret.Data))
	}
	if err != nil {
		return fmt.Errorf("failed to delete %s %s: %w", r.kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	return nil
}

// dropGit deletes the GitRepository of the Stack and its Secret. It skips what the Stack
// does not own, and what the API server or an admission policy refuses to delete: neither
// runs nor the deletion of the Stack wait for it.
func (r *StackReconciler) dropGit(ctx context.Context, stack *v1.Stack) error {
	for _, kept := range []struct {
		name   string
		object client.Object
	}{
		// In the other order, the GitRepository would fail to fetch in between.
		{gitsource.Name(stack.Name), &sourcev1.GitRepository{}}, {gitsource.SecretName(stack.Name), &corev1.Secret{}},
	} {
		key, object := client.ObjectKey{Namespace: stack.Namespace, Name: kept.name}, kept.object
		found, err := r.owned(ctx, r.APIReader, stack, key, object)
		var notOurs *notOursError
		if errors.As(err, &notOurs) || errors.Is(source.ReadError("", key, err), source.ErrNotServed) {
			continue
		}
		if err != nil {
			return fmt.Errorf("failed to read %s %s: %w", r.kindOf(object), key, err)
		}
		if !found || !object.GetDeletionTimestamp().IsZero() {
			continue
		}
		err = r.remove(ctx, object)
		switch {
		case isRefused(err):
			r.leaveBehind(ctx, stack, meta.ArtifactFailedReason, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// leaveGit deletes what was kept for a projectRepo that the Stack no longer has.
func (r *StackReconciler) leaveGit(ctx context.Context, stack *v1.Stack) error {
	if stack.Spec.ProjectRepo != "" || stack.Status.GitRepository == "" {
		return nil
	}
	if err := r.dropGit(ctx, stack); err != nil {
		return err
	}
	return r.patchStatus(ctx, stack, func() {
		stack.Status.GitRepository = ""
		markEdited(stack, "Released the GitRepository, which spec.projectRepo no longer asks for")
	})
}

// suspendGit stops the polling for a suspended Stack.
func (r *StackReconciler) suspendGit(ctx context.Context, stack *v1.Stack) error {
	if stack.Spec.ProjectRepo == "" || stack.Status.GitRepository == "" {
		return nil
	}
	key := client.ObjectKey{Namespace: stack.Namespace, Name: gitsource.Name(stack.Name)}
	repo := &sourcev1.GitRepository{}
	found, err := r.owned(ctx, r.Client, stack, key, repo)
	if err != nil || !found || repo.Spec.Suspend {
		// Nothing of ours polls, or that cannot be known. A suspended Stack must not
		// fail.
		return nil
	}
	before := repo.DeepCopy()
	repo.Spec.Suspend = true
	return client.IgnoreNotFound(r.Patch(ctx, repo, client.MergeFrom(before), fieldOwner))
}

// releaseGit deletes what was kept for a Stack that goes. Errors do not stop it: the
// garbage collector deletes owned objects anyway.
func (r *StackReconciler) releaseGit(ctx context.Context, stack *v1.Stack) {
	if stack.Status.GitRepository == "" {
		return
	}
	if err := r.dropGit(ctx, stack); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "failed to remove what was kept for spec.projectRepo: it is left to the garbage collector")
	}
}

// label marks an object as managed by this controller.
func label(object client.Object) {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels["app.kubernetes.io/managed-by"] = "pulumi-controller"
	object.SetLabels(labels)
}

// refused turns an error of the API server that a person has to fix into one that the
// status of the Stack reports.
func refused(verb string, object client.Object, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := object.(*sourcev1.GitRepository); ok {
		// The response tells a client with a cached REST mapping that the kind is gone.
		notServed := source.ReadError(sourcev1.GitRepositoryKind, client.ObjectKeyFromObject(object), err)
		if errors.Is(notServed, source.ErrNotServed) {
			return notServed
		}
	}
	wrapped := fmt.Errorf("failed to %s the object that is kept for spec.projectRepo: %w", verb, err)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return &refusedError{wrapped}
	}
	return wrapped
}

func (r *StackReconciler) kindOf(object client.Object) string {
	if gvk, err := r.GroupVersionKindFor(object); err == nil {
		return gvk.Kind
	}
	return fmt.Sprintf("%T", object)
}
