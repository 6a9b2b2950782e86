// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// isTooLarge recognizes that an object does not fit into etcd. The API server and etcd
// report that in different ways.
func isTooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || (err != nil && strings.Contains(err.Error(), "request is too large"))
}
