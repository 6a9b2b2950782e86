// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"encoding/json"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// HasWorkspace tells whether the spec asks for anything of the pod that the Pulumi
// operator runs a program in. A template with nothing in it is as none.
func HasWorkspace(spec v1.StackSpec) bool {
	if spec.WorkspaceTemplate == nil {
		return false
	}
	var template any
	if err := json.Unmarshal(orNull(spec.WorkspaceTemplate.Raw), &template); err != nil {
		return true
	}
	if members, ok := template.(map[string]any); ok {
		delete(members, "metadata") // of the operator's Workspace objects, of which there are none
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
