// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"slices"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// A kept GitRepository is one that the controller itself edits. Its artifact counts only
// if fetched for the current spec: one for an earlier spec is a different program.

var (
	// ErrFetching is a kept GitRepository that has not yet fetched what its spec asks
	// for.
	ErrFetching = errors.New("source fetches")
	// ErrFetchFailed is a kept GitRepository that cannot fetch what its spec asks for.
	ErrFetchFailed = errors.New("source cannot fetch")
)

// ReadError explains an error from reading or writing a source object.
func ReadError(kind string, key types.NamespacedName, err error) error {
	return readError(fmt.Sprintf("%s/%s", kind, key), kind, err)
}

// Fetching returns an ErrFetching with a text for people.
func Fetching(text string) error { return fail(text, ErrFetching) }

// OfKept returns the source of a kept GitRepository. Messages from source-controller go
// through the mask.
func OfKept(repo *sourcev1.GitRepository, mask func(string) string) (*Source, error) {
	key := client.ObjectKeyFromObject(repo)
	name := fmt.Sprintf("%s/%s", sourcev1.GitRepositoryKind, key)
	failed := currentCondition(repo, sourcev1.FetchFailedCondition)
	if failed == nil {
		failed = currentCondition(repo, sourcev1.StorageOperationFailedCondition)
	}
	stored := currentCondition(repo, sourcev1.ArtifactInStorageCondition)
	artifact := repo.GetArtifact()
	switch {
	case unanswered(repo): // any failure is older than the request
		return nil, Fetching(fmt.Sprintf("source '%s' has not handled the request to fetch yet: is source-controller running?", name))
	case failed != nil:
		// This counts even if there is an older artifact: only the Stack reports on this
		// source, and a requested run would use the old program.
		return nil, fail(fmt.Sprintf("source '%s' cannot fetch: %s", name, bounded.Text(mask(failed.Message), maxMessage)), ErrFetchFailed)
	case stored != nil && artifact != nil && artifact.URL != "" && artifact.Digest != "":
		return sourceOf(sourcev1.GitRepositoryKind, key, artifact), nil
	}
	return nil, Fetching(fmt.Sprintf("source '%s' has not fetched the revision of spec.projectRepo yet", name))
}

// currentCondition returns a condition that is true for the current generation, or nil.
func currentCondition(repo *sourcev1.GitRepository, kind string) *metav1.Condition {
	condition := apimeta.FindStatusCondition(repo.Status.Conditions, kind)
	if condition == nil || condition.Status != metav1.ConditionTrue || condition.ObservedGeneration < repo.Generation {
		return nil
	}
	return condition
}

// unanswered reports whether a reconcile request for the source is pending.
func unanswered(repo *sourcev1.GitRepository) bool {
	asked, ok := repo.Annotations[fluxmeta.ReconcileRequestAnnotation]
	return ok && asked != repo.Status.LastHandledReconcileAt
}

// KeptChanged reports whether the result of OfKept, or whether the object is as desired,
// may have changed. It filters out the source's many other status updates.
func KeptChanged(before, after *sourcev1.GitRepository) bool {
	if before.Generation != after.Generation || unanswered(before) != unanswered(after) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() || len(before.OwnerReferences) != len(after.OwnerReferences) {
		return true
	}
	return slices.ContainsFunc([]string{
		sourcev1.FetchFailedCondition, sourcev1.StorageOperationFailedCondition, sourcev1.ArtifactInStorageCondition,
	}, func(kind string) bool {
		a, b := currentCondition(before, kind), currentCondition(after, kind)
		return (a == nil) != (b == nil) || (a != nil && kind != sourcev1.ArtifactInStorageCondition && a.Message != b.Message)
	})
}
