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
)

// A kept GitRepository is one that the controller itself edits. Its artifact counts
// only when it was fetched for the spec that the object has now: that of the spec
// before is another program.

var (
	// ErrFetching is a kept GitRepository that has not yet fetched what it is to.
	ErrFetching = errors.New("source fetches")
	// ErrFetchFailed is a kept GitRepository that cannot fetch it.
	ErrFetchFailed = errors.New("source cannot fetch")
)

// ReadError says what it means that a source object could not be read or written.
func ReadError(kind string, key types.NamespacedName, err error) error {
	return readError(fmt.Sprintf("%s/%s", kind, key), kind, err)
}

// Fetching is an ErrFetching with a text for a person.
func Fetching(text string) error { return fail(text, ErrFetching) }

// OfKept returns what a kept GitRepository offers. What source-controller says of it
// is shown through the mask.
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
	case unanswered(repo): // a failure is older than the request
		return nil, Fetching(fmt.Sprintf("source '%s' was asked to fetch and has not yet: is source-controller running?", name))
	case failed != nil:
		// Also where it has an older artifact: the Stack is all that tells of this source,
		// and a run that somebody asks for would be one of what was there before.
		return nil, fail(fmt.Sprintf("source '%s' cannot fetch: %s", name, shorten(mask(failed.Message), maxMessage)), ErrFetchFailed)
	case stored != nil && artifact != nil && artifact.URL != "" && artifact.Digest != "":
		return sourceOf(sourcev1.GitRepositoryKind, key, artifact), nil
	}
	return nil, Fetching(fmt.Sprintf("source '%s' has not yet fetched what spec.projectRepo asks for", name))
}

// currentCondition is a condition that is true of the object as it is now.
func currentCondition(repo *sourcev1.GitRepository, kind string) *metav1.Condition {
	condition := apimeta.FindStatusCondition(repo.Status.Conditions, kind)
	if condition == nil || condition.Status != metav1.ConditionTrue || condition.ObservedGeneration < repo.Generation {
		return nil
	}
	return condition
}

// unanswered tells that somebody asks the source to fetch.
func unanswered(repo *sourcev1.GitRepository) bool {
	asked, ok := repo.Annotations[fluxmeta.ReconcileRequestAnnotation]
	return ok && asked != repo.Status.LastHandledReconcileAt
}

// KeptChanged tells whether OfKept, or whether the object is as it is to be, may have
// another answer. A source changes its status more often than that.
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
