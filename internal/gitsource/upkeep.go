// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitsource

import (
	"fmt"
	"maps"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// secretVersionAnnotation records on a GitRepository the version of its Secret for which
// a fetch was requested: source-controller does not watch Secrets.
const secretVersionAnnotation = "pulumi.com/secret-version"

// Verb is what is due for the objects of a projectRepo.
type Verb string

const (
	// Write creates or changes the GitRepository and its Secret.
	Write Verb = "write"
	// Suspend stops the polling for a suspended Stack.
	Suspend Verb = "suspend"
	// Delete deletes the objects of a projectRepo that the Stack no longer has.
	Delete Verb = "delete"
)

// Upkeep is what is due so that the cluster has the objects for the projectRepo of a Stack.
type Upkeep struct {
	Verb Verb
	// Repository and Secret are the changes to Write, or to Suspend.
	Repository Change[sourcev1.GitRepository]
	Secret     Change[corev1.Secret]
	// SecretVersion is the version of a Secret that does not change, "" if there is none.
	SecretVersion string
	// Request is a reconcile request of the Stack that is to be passed on, "" if none.
	Request string
	name    types.NamespacedName
}

// Change is an object before and after it. Nil is one that does not exist, and a change of nil
// to nil is none.
type Change[T any] struct{ Before, After *T }

func (c Change[T]) none() bool { return c.Before == nil && c.After == nil }

// String says what is due.
func (u *Upkeep) String() string {
	return fmt.Sprintf("%s %s %s", u.Verb, sourcev1.GitRepositoryKind, u.name)
}

// Wanted is what a Stack wants of its projectRepo.
type Wanted struct {
	Spec sourcev1.GitRepositorySpec
	// Data of the Secret, nil if none is needed.
	Data map[string][]byte
	// Request is a reconcile request of the Stack that is to be passed on, "" if none.
	Request string
}

// Plan returns what is due, given the objects that the Stack owns, which may be nil. It is
// nil if nothing is.
func Plan(stack *v1.Stack, wanted Wanted, repo *sourcev1.GitRepository, secret *corev1.Secret, now time.Time) *Upkeep {
	u := &Upkeep{
		Verb: Write, Request: wanted.Request, name: keyOf(stack),
		Secret: planSecret(stack, wanted.Data, secret),
	}
	if u.Secret.none() && secret != nil {
		u.SecretVersion = secret.ResourceVersion
	}
	after := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: u.name.Namespace, Name: u.name.Name}}
	if repo != nil {
		after = repo.DeepCopy()
	}
	after.Spec = wanted.Spec
	label(after)
	planned := after.DeepCopy()
	u.Ask(planned, u.version(), now)
	if repo == nil || u.Secret.After != nil || !equality.Semantic.DeepEqual(repo, planned) {
		u.Repository = Change[sourcev1.GitRepository]{Before: repo, After: after}
	}
	if u.Repository.none() && u.Secret.none() && stack.Status.GitRepository == u.name.Name {
		return nil
	}
	return u
}

// version returns a version that the Secret does not have if it is about to change.
func (u *Upkeep) version() string {
	if u.Secret.After != nil {
		return "changes"
	}
	return u.SecretVersion
}

func planSecret(stack *v1.Stack, data map[string][]byte, before *corev1.Secret) Change[corev1.Secret] {
	switch {
	case data == nil:
		return Change[corev1.Secret]{Before: before}
	case before == nil:
		after := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: SecretName(stack.Name)}, Data: data}
		label(after)
		return Change[corev1.Secret]{After: after}
	}
	after := before.DeepCopy()
	after.Data = data
	label(after)
	if equality.Semantic.DeepEqual(before, after) {
		return Change[corev1.Secret]{}
	}
	return Change[corev1.Secret]{Before: before, After: after}
}

// Ask makes source-controller fetch at once when a run of the Stack is requested, and
// when the credentials have changed.
func (u *Upkeep) Ask(repo *sourcev1.GitRepository, secretVersion string, now time.Time) {
	annotations := maps.Clone(repo.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if repo.ResourceVersion != "" && annotations[secretVersionAnnotation] != secretVersion {
		annotations[meta.ReconcileRequestAnnotation] = now.Format(time.RFC3339Nano)
	}
	if secretVersion == "" {
		delete(annotations, secretVersionAnnotation)
	} else {
		annotations[secretVersionAnnotation] = secretVersion
	}
	if u.Request != "" {
		annotations[meta.ReconcileRequestAnnotation] = u.Request
	}
	if len(annotations) > 0 {
		repo.Annotations = annotations
	}
}

// Expected returns the GitRepository as source-controller finds it after the upkeep: what it
// fetched for an earlier spec is not what the Stack asks for now.
func (u *Upkeep) Expected(now time.Time) *sourcev1.GitRepository {
	if u.Repository.none() {
		return nil
	}
	expected := u.Repository.After.DeepCopy()
	u.Ask(expected, u.version(), now)
	if before := u.Repository.Before; before != nil && !equality.Semantic.DeepEqual(before.Spec, expected.Spec) {
		expected.Generation++
	}
	return expected
}

// PlanSuspension returns what is due for a Stack that is suspended, nil if nothing is.
func PlanSuspension(repo *sourcev1.GitRepository) *Upkeep {
	if repo.Spec.Suspend {
		return nil
	}
	after := repo.DeepCopy()
	after.Spec.Suspend = true
	return &Upkeep{Verb: Suspend, Repository: Change[sourcev1.GitRepository]{Before: repo, After: after}, name: client.ObjectKeyFromObject(repo)}
}

// PlanDeletion returns what is due for a Stack that has no projectRepo, nil if nothing is.
func PlanDeletion(stack *v1.Stack) *Upkeep {
	if stack.Spec.ProjectRepo != "" || stack.Status.GitRepository == "" {
		return nil
	}
	return &Upkeep{Verb: Delete, name: keyOf(stack)}
}

func keyOf(stack *v1.Stack) types.NamespacedName {
	return types.NamespacedName{Namespace: stack.Namespace, Name: Name(stack.Name)}
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
