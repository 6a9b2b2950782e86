// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import "regexp"

// withAdvice replaces the advice to use a command of the CLI, which does nothing for a
// Stack, by the field of the spec.
func withAdvice(text string) string {
	command := regexp.MustCompile(`\s*please set a value using the command .pulumi config set (--secret )?\S+ <value>.|; run .pulumi config. to set`)
	return command.ReplaceAllStringFunc(text, func(found string) string {
		if command.FindStringSubmatch(found)[1] != "" {
			return ": set it in spec.secretsRef"
		}
		return ": set it in spec.config"
	})
}
