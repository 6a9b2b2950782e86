// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsUnreached reports whether an error comes from the way to the API server rather than
// from the API server itself.
func IsUnreached(err error) bool {
	var answered apierrors.APIStatus
	return err != nil && !errors.As(err, &answered)
}

// IsPassing reports whether the same request may succeed later by itself: the API server
// cannot be reached, for instance while it restarts, or is overloaded.
func IsPassing(err error) bool {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return err != nil
	}
	code := answered.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}
