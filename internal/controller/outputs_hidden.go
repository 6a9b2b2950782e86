// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

// maxRefusal bounds the quoted text of an API server or webhook.
const maxRefusal = 1024

// hiddenError is an error of the API server about a Secret, with the values masked in its
// text. It unwraps to the original, so that errors.As and errors.Is still work.
type hiddenError struct {
	error
	text string
}

func (e *hiddenError) Error() string { return e.text }

func (e *hiddenError) Unwrap() error { return e.error }

// hideValues masks values in an error of the API server, an admission policy or a
// webhook, which see them in base64. Leave out values that are not secret: one such as
// "data" would mask the word.
func hideValues(err error, values []string) error {
	if err == nil {
		return nil
	}
	return &hiddenError{error: err, text: bounded.Text(mask.Text(err.Error(), values), maxRefusal)}
}
