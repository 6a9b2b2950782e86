// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"

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

// IsAway reports whether an error says that the API server does not answer, or has too much to do: whatever else is asked of
// it now is not answered either.
func IsAway(err error) bool {
	var unsent *url.Error
	return errors.As(err, &unsent) || errors.Is(err, context.DeadlineExceeded) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}
