// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import "github.com/flux-pulumi/pulumi-controller/internal/mask"

// maxRefusal bounds what is told of the words of an API server, or of a webhook.
const maxRefusal = 1024

// hiddenError is an error of an API server about a Secret. It is told from others as
// what it was, and says nothing of the values.
type hiddenError struct {
	error
	text string
}

func (e *hiddenError) Error() string { return e.text }

func (e *hiddenError) Unwrap() error { return e.error }

// hideValues takes the values out of what an API server, or an admission policy or a
// webhook of somebody, has said of them. These see them in base64. Values that are
// no secret are to be left out: one such as "data" would be taken for the word.
func hideValues(err error, values []string) error {
	if err == nil {
		return nil
	}
	return &hiddenError{error: err, text: cut(mask.Text(err.Error(), values), maxRefusal)}
}
