// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package plural writes numbers of things in messages.
package plural

import "fmt"

// Of returns the number of things: 1 process, 2 processes.
func Of(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
