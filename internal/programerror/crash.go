// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import "regexp"

// IsCrash reports whether a line begins what a language prints about a program that
// crashes, with a stack trace of any length below it.
func IsCrash(line string) bool {
	return regexp.MustCompile(`^(panic: |fatal error: |FATAL ERROR: |Fatal Python error|# +Fatal |Unhandled exception\. |Exception in thread |Traceback \(most recent call last\):)`).MatchString(line)
}
