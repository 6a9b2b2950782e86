// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"
	"maps"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// HasWorkspace tells whether the spec asks for anything of the pod that the Pulumi
// operator runs a program in. A template with nothing in it is as none.
func HasWorkspace(spec v1.StackSpec) bool {
	return asksFor(spec, func(template map[string]any) {
		delete(template, "metadata") // of the operator's Workspace objects, of which there are none
	})
}

// HasJob tells whether the spec asks for anything of the Job of a run, in whose place the
// operator has a Workspace object, or of its pod.
func HasJob(spec v1.StackSpec) bool {
	return asksFor(spec, func(template map[string]any) {
		if metadata, ok := template["metadata"].(map[string]any); ok {
			maps.DeleteFunc(metadata, func(key string, _ any) bool { return key != "labels" && key != "annotations" })
		}
	})
}

// asksFor tells whether there is anything in spec.workspaceTemplate but for what is left
// out of it.
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

// asksForNothing tells whether a value of a template is as good as missing. What is in
// a list is there, whatever it is, and a null within a field of the template's spec may
// be there to take something away.
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
