// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

const updateTemplateField = "spec.updateTemplate"

// validateUpdateTemplate accepts the Pulumi operator's updateTemplate if everything it
// asks for holds here as well, and otherwise names the first key that asks for something
// else. Ignoring that key would run a different update than the one asked for.
func validateUpdateTemplate(spec v1.StackSpec) error {
	if isEmptyTemplate(spec.UpdateTemplate) {
		return nil
	}
	var template map[string]json.RawMessage
	if err := json.Unmarshal(spec.UpdateTemplate.Raw, &template); err != nil {
		return &InvalidError{updateTemplateField, "is not an object: remove it"}
	}
	for _, key := range slices.Sorted(maps.Keys(template)) {
		// metadata is for the operator's Update objects, which do not exist here.
		if key != "metadata" && key != "spec" {
			return &InvalidError{updateTemplateField + "." + key, "is unknown: remove it"}
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(orNull(template["spec"]), &fields); err != nil {
		return &InvalidError{updateTemplateField + ".spec", "is not an object: remove it"}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if problem := updateFieldProblem(spec, key, fields[key]); problem != "" && !isNull(fields[key]) {
			return &InvalidError{updateTemplateField + ".spec." + key, problem}
		}
	}
	return nil
}

// updateFieldProblem returns what is wrong with a field of an Update, or "".
func updateFieldProblem(spec v1.StackSpec, key string, raw json.RawMessage) string {
	instead := func(same bool, field string) string {
		if same {
			return ""
		}
		return fmt.Sprintf("contradicts %s: remove it and set %s", field, field)
	}
	switch key {
	case "ttlAfterCompleted":
		return "" // finished runs are not kept
	case "remove":
		if isBool(raw, true) {
			return ""
		}
		return "cannot be set, a destroy always removes the stack from its backend: remove it"
	case "refresh":
		return instead(isBool(raw, spec.Refresh), "spec.refresh")
	case "runProgram":
		return instead(isBool(raw, spec.RunProgram), "spec.runProgram")
	case "targetDependents":
		return instead(isBool(raw, spec.TargetDependents), "spec.targetDependents")
	case "target":
		return instead(isSet(raw, spec.Targets), "spec.targets")
	case "type":
		return "cannot be set: remove it; for a preview, use spec.preview"
	case "parallel":
		return "cannot be set: remove it and set the variable PULUMI_PARALLEL in spec.envRefs"
	case "continueOnError":
		return "cannot be set: remove it and set the variable PULUMI_CONTINUE_ON_ERROR in spec.envRefs"
	case "expectNoChanges":
		return "cannot be set: remove it; use spec.preview to see changes before they are made, or " +
			"spec.expectNoRefreshChanges to detect changes made outside of Pulumi"
	case "replace":
		return "cannot be set: remove it; to replace resources, suspend the Stack and run pulumi up --replace"
	case "message":
		return "cannot be set: remove it"
	case "workspaceName", "stackName":
		return "cannot be set, the run uses spec.stack: remove it"
	}
	return "is unknown: remove it"
}

// isEmptyTemplate reports whether a template asks for nothing.
func isEmptyTemplate(template *apiextensionsv1.JSON) bool {
	if template == nil {
		return true
	}
	text := bytes.TrimSpace(template.Raw)
	return isNull(text) || string(text) == "{}"
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func isBool(raw json.RawMessage, want bool) bool {
	var value bool
	return json.Unmarshal(raw, &value) == nil && value == want
}

// isSet reports whether a list has the same texts in any order.
func isSet(raw json.RawMessage, want []string) bool {
	var values []string
	if json.Unmarshal(raw, &values) != nil {
		return false
	}
	sorted := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return slices.Equal(sorted(values), sorted(want))
}
