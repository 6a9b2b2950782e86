// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"errors"
	"fmt"

	aclv1 "github.com/fluxcd/pkg/apis/acl"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/acl"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/gitsource"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// invalidSpecError is a fault that only an edit fixes.
type invalidSpecError struct{ error }

func (e *invalidSpecError) Unwrap() error { return e.error }

// programMissingError is a Program that does not exist.
type programMissingError struct{ namespace, name string }

func (e *programMissingError) Error() string {
	return fmt.Sprintf("Program %s/%s not found: create it, or correct spec.programRef", e.namespace, e.name)
}

// problemOf turns an error that is the Stack's into a Problem. It returns nil for an
// error of the API server, which the work queue retries.
func problemOf(err error) *decide.Problem {
	var (
		invalid      *invalidSpecError
		invalidInput *inputs.InvalidError
		denied       acl.AccessDeniedError
		noProgram    *programMissingError
		badProgram   *programInvalidError
		noInput      *inputs.MissingError
		badInput     *inputs.UnusableError
		notOurs      *gitsource.NotOwnedError
		refused      *gitsource.RefusedError
		account      *accountError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid), errors.As(err, &invalidInput), errors.Is(err, source.ErrInvalid):
		return &decide.Problem{Reason: v1.InvalidSpecReason, Message: err.Error(), Terminal: true}
	case errors.As(err, &denied):
		return &decide.Problem{Reason: aclv1.AccessDeniedReason, Message: err.Error(), Terminal: true}
	case errors.Is(err, source.ErrFetching):
		return &decide.Problem{Reason: meta.ArtifactFailedReason, Message: err.Error(), Awaited: true, Fetching: true}
	case errors.As(err, &noProgram), errors.Is(err, source.ErrNotFound), errors.Is(err, source.ErrNotReady):
		return &decide.Problem{Reason: meta.ArtifactFailedReason, Message: err.Error(), Awaited: true}
	case errors.As(err, &badProgram):
		return &decide.Problem{Reason: v1.ProgramInvalidReason, Message: err.Error()}
	case source.IsProblem(err), errors.As(err, &notOurs), errors.As(err, &refused):
		return &decide.Problem{Reason: meta.ArtifactFailedReason, Message: err.Error()}
	case errors.As(err, &account):
		return &decide.Problem{Reason: v1.ServiceAccountFailedReason, Message: err.Error()}
	case errors.As(err, &noInput), errors.As(err, &badInput):
		return &decide.Problem{Reason: v1.InputsFailedReason, Message: err.Error()}
	}
	return forbiddenProblem(err)
}

// mayPass reports whether a problem may go away without an event: the controller is not
// notified when a CRD is installed again or a right is granted.
func mayPass(err error) bool {
	var refused *gitsource.RefusedError
	var account *accountError
	return errors.Is(err, source.ErrNotServed) || errors.As(err, &refused) || errors.As(err, &account)
}
