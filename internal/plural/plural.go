// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package plural writes numbers of things in messages.
package plural

import (
	"fmt"
	"strings"
)

// Of returns the number of things: 1 process, 2 processes.
func Of(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Some names at most so many things, and counts the others: a, b and 3 more.
func Some(names []string, most int) string {
	return First(names[:min(len(names), most)], len(names))
}

// First names the first of so many things, and counts the others.
func First(names []string, all int) string {
	text := strings.Join(names, ", ")
	if more := all - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
