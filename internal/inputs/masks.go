// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"cmp"
	"slices"
	"strings"
)

// alwaysSecret says that the value of a variable is a secret even if it is
// written in the spec: with it alone, others can read the secrets of the stack.
func alwaysSecret(variable string) bool {
	return variable == passphraseVariable || variable == accessTokenVariable
}

// masksOf returns the values that nothing may show. They are unique and not
// empty, the longest first. The forms in which a value can stand in a text are
// the business of who masks it. Their number is bounded by maxValues, the bound
// of the values.
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
