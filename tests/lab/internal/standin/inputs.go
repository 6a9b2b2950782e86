// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

// check finds missing and unknown inputs.
func check(resource Resource, inputs property.Map) []p.CheckFailure {
	var failures []p.CheckFailure
	for _, name := range slices.Sorted(maps.Keys(resource.Inputs)) {
		if value, ok := inputs.GetOk(name); resource.Inputs[name].Required && (!ok || value.IsNull()) {
			failures = append(failures, p.CheckFailure{Property: name, Reason: "it is required"})
		}
	}
	for name := range inputs.AllStable {
		if _, ok := resource.Inputs[name]; !ok && !resource.Free {
			failures = append(failures, p.CheckFailure{Property: name, Reason: fmt.Sprintf("there is no property %q", name)})
		}
	}
	return failures
}

// diff returns the inputs that have changed, and whether that replaces the resource.
func diff(resource Resource, before, now property.Map, ignored []string) p.DiffResponse {
	response := p.DiffResponse{DetailedDiff: map[string]p.PropertyDiff{}}
	for _, name := range names(resource, before, now) {
		spec := resource.Inputs[name]
		old, had := before.GetOk(name)
		new, has := now.GetOk(name)
		if slices.Contains(ignored, name) || had == has && !new.HasComputed() && reflect.DeepEqual(plain(old), plain(new)) {
			continue
		}
		response.HasChanges = true
		if resource.Nameless {
			continue
		}
		response.DetailedDiff[name] = p.PropertyDiff{Kind: kindOf(had, has, spec.Replaces), InputDiff: true}
	}
	return response
}

// names are those of all inputs that there may be.
func names(resource Resource, inputs ...property.Map) []string {
	all := slices.Collect(maps.Keys(resource.Inputs))
	for _, given := range inputs {
		for name := range given.All {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func kindOf(had, has, replaces bool) p.DiffKind {
	kind := p.Update
	switch {
	case !had:
		kind = p.Add
	case !has:
		kind = p.Delete
	}
	if replaces {
		kind += "&replace"
	}
	return kind
}

// outputs returns the inputs with what the cloud adds. With unknown, outputs that are not
// known before the thing exists are left for later.
func outputs(thing Thing, unknown bool) property.Map {
	all := thing.Inputs
	for name, output := range thing.Resource.Outputs {
		given := !thing.Inputs.Get(name).IsNull()
		if given && (unknown || !output.Merges) {
			continue
		}
		value := property.New(property.Computed)
		if !unknown {
			value = output.Of(thing)
		}
		all = all.Set(name, value.WithSecret(output.Secret))
	}
	return all
}

// withSecrets marks the inputs that are always secret.
func withSecrets(resource Resource, inputs property.Map) property.Map {
	for name, value := range inputs.All {
		if resource.Inputs[name].Secret {
			inputs = inputs.Set(name, value.WithSecret(true))
		}
	}
	return inputs
}
