// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"fmt"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// options are the fields of a spec that change what Pulumi does with a program. A field
// without effect keeps its zero value, so that setting it triggers no run.
type options struct {
	Preview                bool     `json:"preview,omitempty"`
	Refresh                bool     `json:"refresh,omitempty"`
	ExpectNoRefreshChanges bool     `json:"expectNoRefreshChanges,omitempty"`
	RunProgram             bool     `json:"runProgram,omitempty"`
	Targets                []string `json:"targets,omitempty"`
	TargetDependents       bool     `json:"targetDependents,omitempty"`
	SecretsProvider        string   `json:"secretsProvider,omitempty"`
	Environment            []string `json:"environment,omitempty"`
	PreviewOf              string   `json:"previewOf,omitempty"`
}

// RunOptions returns the fields of the spec that change what Pulumi does with a program
// as canonical text, or "" if none is set.
//
// It leaves out fields that only say when to run, and runProgram without refresh, which
// matters only for a destroy. It also leaves out useLocalStackOnly, which decides whether
// there is a run at all and does not change a stack that exists.
func RunOptions(spec v1.StackSpec) (string, error) {
	of := options{Preview: spec.Preview}
	if ref := spec.PreviewOf; ref != nil && spec.Preview {
		of.PreviewOf = ref.Namespace + "/" + ref.Name // another Stack has other plans
	}
	return optionsOf(spec, of)
}

// PlanOptions returns the same for a plan of an update, which is the same plan whether the
// Stack only previews.
func PlanOptions(spec v1.StackSpec) (string, error) { return optionsOf(spec, options{}) }

// optionsOf adds the options of all runs to those of a preview.
func optionsOf(spec v1.StackSpec, of options) (string, error) {
	targets := slices.Compact(slices.Sorted(slices.Values(spec.Targets)))
	set := options{
		Preview:                of.Preview,
		PreviewOf:              of.PreviewOf,
		Refresh:                spec.Refresh,
		ExpectNoRefreshChanges: spec.Refresh && spec.ExpectNoRefreshChanges,
		RunProgram:             spec.Refresh && spec.RunProgram,
		Targets:                targets,
		TargetDependents:       len(targets) > 0 && spec.TargetDependents,
		SecretsProvider:        spec.SecretsProvider,
		// Not sorted: if two environments set the same value, the later one wins.
		Environment: spec.Environment,
	}
	text, err := json.Marshal(set)
	if err != nil {
		return "", fmt.Errorf("digest of the options: %w", err)
	}
	if string(text) == "{}" {
		return "", nil
	}
	return string(text), nil
}
