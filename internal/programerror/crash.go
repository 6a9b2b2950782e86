// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import "strings"

// IsCrash reports whether a line begins what a language prints about a program that
// crashes, with a stack trace of any length below it. It is called for each line that a
// program prints.
func IsCrash(line string) bool {
	for _, begin := range []string{
		"panic: ", "fatal error: ", "FATAL ERROR: ", "Fatal Python error", "# Fatal ", "#  Fatal ",
		"Unhandled exception. ", "Exception in thread ", "Traceback (most recent call last):",
	} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
