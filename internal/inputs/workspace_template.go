// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"maps"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// HasWorkspace reports whether the spec asks for anything in the Pulumi operator's
// workspace pod. An empty template asks for nothing.
func HasWorkspace(spec v1.StackSpec) bool {
	return asksFor(spec, func(template map[string]any) {
		delete(template, "metadata") // for the operator's Workspace objects, which do not exist here
	})
}

// HasJob reports whether the spec asks for anything in the Job of a run or its pod. The Job
// takes the place of the operator's Workspace object, so metadata counts too.
func HasJob(spec v1.StackSpec) bool {
	return asksFor(spec, func(template map[string]any) {
		if metadata, ok := template["metadata"].(map[string]any); ok {
			maps.DeleteFunc(metadata, func(key string, _ any) bool { return key != "labels" && key != "annotations" })
		}
	})
}

// asksFor reports whether spec.workspaceTemplate asks for anything besides what leaveOut
// removes.
func asksFor(spec v1.StackSpec, leaveOut func(template map[string]any)) bool {
	if spec.WorkspaceTemplate == nil {
		return false
	}
	var template any
	if err := json.Unmarshal(orNull(spec.WorkspaceTemplate.Raw), &template); err != nil {
		return true
	}
	if members, ok := template.(map[string]any); ok {
		leaveOut(members)
	}
	return !asksForNothing(template, 0)
}

// asksForNothing reports whether a template value is as good as missing. Any list item
// counts as something, and so does a null inside a field of the template's spec, which
// may be meant to remove a default.
func asksForNothing(value any, depth int) bool {
	switch value := value.(type) {
	case nil:
		return depth <= 2
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, member := range value {
			if !asksForNothing(member, depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
