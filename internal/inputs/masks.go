// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// alwaysSecret reports whether a variable is secret even if written in the spec, because
// its value alone gives access to the secrets of the stack.
func alwaysSecret(variable string) bool {
	return variable == grammar.PassphraseVariable || variable == accessTokenVariable
}

// masksOf returns the values to mask, without duplicates and blank ones, longest first.
// Package mask derives the forms that a value may take in a text. maxValues bounds the
// values and so their number.
func masksOf(values []string) []string {
	masks := make([]string, 0, len(values))
	for _, value := range values {
		if strings.TrimSpace(value) != "" {
			masks = append(masks, value)
		}
	}
	slices.SortFunc(masks, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return slices.Compact(masks)
}
