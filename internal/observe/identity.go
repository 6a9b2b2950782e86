// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// accountError is a service account whose identity is not known.
type accountError struct{ error }

func (e *accountError) Unwrap() error { return e.error }

// observeIdentity reads the identity of the Stack's service account in clouds. Service accounts
// are not watched: the right to list them in all namespaces is not worth a few minutes.
func (o *Observer) observeIdentity(ctx context.Context, stack *v1.Stack, seen *Observation) error {
	if !o.WorkloadIdentity || seen.Account == "" {
		return nil
	}
	account := &corev1.ServiceAccount{}
	err := o.APIReader.Get(ctx, client.ObjectKey{Namespace: stack.Namespace, Name: seen.Account}, account)
	name := stack.Namespace + "/" + seen.Account
	var ofReader *deniedToReaderError
	switch {
	case apierrors.IsNotFound(err):
		return &accountError{fmt.Errorf("service account '%s' not found: create it, or name another in spec.serviceAccountName", name)}
	case apierrors.IsForbidden(err) && !errors.As(err, &ofReader):
		return &accountError{fmt.Errorf("can't read service account '%s': %w: grant the controller permission to get serviceaccounts", name, err)}
	case err != nil:
		return fmt.Errorf("can't read service account '%s': %w", name, err)
	}
	if seen.Identity, err = identity.Parse(account.Annotations); err != nil {
		return &accountError{fmt.Errorf("service account '%s': %w", name, err)}
	}
	return nil
}

// checkIdentity refuses variables of the Stack that take the place of its identity. Which of the
// two counts is different for each SDK.
func (seen *Observation) checkIdentity(resolved *inputs.Inputs) error {
	variable, annotation := seen.Identity.Conflict(resolved.Env)
	if variable == "" {
		return nil
	}
	return &inputs.UnusableError{Field: resolved.EnvFields[variable], Problem: fmt.Sprintf(
		"the variable %s cannot be set beside the annotation %s of service account '%s', which gives the program another identity: "+
			"remove one of the two", variable, annotation, seen.Account)}
}
