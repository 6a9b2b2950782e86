// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
)

// checkProgramConfig refuses config that Pulumi would take for a file. A Program cannot
// read the files of the controller's machine, and must not get one through its config. A
// program from a source can read any file as it is.
func checkProgramConfig(stack *v1.Stack, resolved *inputs.Inputs) error {
	if stack.Spec.ProgramRef == nil {
		return nil
	}
	const problem = "is, or holds, what Pulumi would take for an asset, an archive or a secret in the form in which it passes them on, " +
		"and read a file of the controller for, which the config of a Program cannot be: declare it in the Program, with fn::fileAsset, fn::stringAsset or fn::secret"
	for _, key := range slices.Sorted(maps.Keys(resolved.Config)) {
		if !grammar.HoldsFile(resolved.Config[key]) {
			continue
		}
		if _, referred := stack.Spec.ConfigRef[key]; referred {
			return &inputs.UnusableError{Field: "spec.configRef." + key, Problem: problem}
		}
		return &inputs.InvalidError{Field: "spec.config." + key, Problem: problem}
	}
	for _, key := range slices.Sorted(maps.Keys(resolved.Secrets)) {
		if !grammar.HoldsFile(resolved.Secrets[key]) {
			continue
		}
		if _, inline := stack.Spec.Secrets[key]; inline {
			return &inputs.InvalidError{Field: "spec.secrets." + key, Problem: problem}
		}
		return &inputs.UnusableError{Field: "spec.secretsRef." + key, Problem: problem}
	}
	return nil
}
