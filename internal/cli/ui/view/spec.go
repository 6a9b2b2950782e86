// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/rows"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// Outputs are those of the last update.
type Outputs struct {
	// Secret is the name of the Secret that they are written to.
	Secret  string   `json:"secret,omitempty"`
	Message string   `json:"message,omitempty"`
	Items   []Output `json:"items,omitempty"`
}

// Output is an output. One that is secret as a whole has no value, and within any other one what is secret is masked.
type Output struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Secret bool   `json:"secret,omitempty"`
}

func outputsOf(stack *v1.Stack) Outputs {
	shown := Outputs{}
	if recorded := stack.Status.OutputsSecret; recorded != nil {
		shown.Secret = name(recorded.Name)
		if recorded.Failure != nil {
			shown.Message = text(recorded.Failure.Message)
		}
	}
	for _, key := range first(slices.Sorted(maps.Keys(stack.Status.Outputs))) {
		one := Output{Name: name(key), Value: text(words.Output(stack.Status.Outputs[key].Raw))}
		if one.Value == mask.SecretText {
			one = Output{Name: one.Name, Secret: true}
		}
		shown.Items = append(shown.Items, one)
	}
	return shown
}

// facts are what a person asks of a Stack first, in the words of its spec. A value that may have a password is not among
// them.
func facts(stack *v1.Stack) []Fact {
	var list []Fact
	add := func(what, value string) {
		if value != "" {
			list = append(list, Fact{Name: what, Value: name(value)})
		}
	}
	spec := &stack.Spec
	add("Source", rows.Source(stack))
	add("Directory", directory(spec))
	add("Pulumi stack", spec.Stack)
	add("Backend", stackstatus.KnownBackend(stack)) // that of the spec may have a password
	add("Interval", stack.GetInterval().String())
	if spec.Approval != nil {
		add("Approval", string(spec.Approval.Require))
	}
	if spec.Drift != nil {
		when := spec.Drift.Schedule
		if spec.Drift.Interval != nil {
			when = "every " + spec.Drift.Interval.Duration.String()
		}
		add("Check for drift", strings.TrimSpace(when+" "+spec.Drift.TimeZone))
		add("After drift", string(spec.Drift.Mode))
	}
	add("Service account", spec.ServiceAccountName)
	if spec.WriteOutputsToSecret != nil {
		add("Outputs to Secret", spec.WriteOutputsToSecret.Name)
	}
	for _, flag := range []struct {
		is   bool
		what string
	}{{spec.Preview, "Preview"}, {spec.Refresh, "Refresh"}, {spec.DestroyOnFinalize, "Destroy on finalize"}, {spec.Suspend, "Suspend"}} {
		if flag.is {
			add(flag.what, "true")
		}
	}
	return list
}

func directory(spec *v1.StackSpec) string {
	if spec.FluxSource != nil {
		return spec.FluxSource.Dir
	}
	return spec.RepoDir
}
