// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// Backend returns where the state lives. It is always explicit, so that the Pulumi.yaml
// of a program cannot choose another.
func Backend(stack *v1.Stack, env map[string]string) string {
	if stack.Spec.Backend != "" {
		return stack.Spec.Backend
	}
	if url := env[grammar.BackendVariable]; url != "" {
		return url
	}
	return v1.DefaultBackend
}
