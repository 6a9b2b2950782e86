// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package apierror judges errors of the API server, and hides secret values in them.
package apierror

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// IsRefused reports whether the same write would fail again.
func IsRefused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// IsTooLarge reports whether an object does not fit into etcd. The API server and etcd report
// that in different ways.
func IsTooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || (err != nil && strings.Contains(err.Error(), "request is too large"))
}

// maxHidden bounds the quoted text of an API server or webhook.
const maxHidden = 1024

// hiddenError is an error of the API server about a Secret, with the values masked in its
// text. It unwraps to the original, so that errors.As and errors.Is still work.
type hiddenError struct {
	error
	text string
}

func (e *hiddenError) Error() string { return e.text }

func (e *hiddenError) Unwrap() error { return e.error }

// HideValues masks values in an error of the API server, an admission policy or a webhook,
// which see them in base64. Leave out values that are not secret: one such as "data" would
// mask the word.
func HideValues(err error, values []string) error {
	if err == nil {
		return nil
	}
	return &hiddenError{error: err, text: bounded.Text(mask.Text(err.Error(), values), maxHidden)}
}
