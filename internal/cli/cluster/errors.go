// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsUnreached tells that an error is not of the API server, but of the way to it.
func IsUnreached(err error) bool {
	var answered apierrors.APIStatus
	return err != nil && !errors.As(err, &answered)
}

// IsPassing tells whether the same request may succeed later, without anybody doing
// anything: the API server cannot be reached, as when it starts again, or has too much to do.
func IsPassing(err error) bool {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return err != nil
	}
	code := answered.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}
