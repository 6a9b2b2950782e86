// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import "github.com/flux-pulumi/pulumi-controller/internal/apierror"

// hideValues masks values in an error of the API server, an admission policy or a webhook.
func hideValues(err error, values []string) error { return apierror.HideValues(err, values) }
