// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"errors"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

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
		return &gitsource.RefusedError{Err: wrapped}
	}
	return wrapped
}

// credentialsIn returns the values of git Secrets to mask in the errors of admission
// policies, also those that someone else has put there.
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
