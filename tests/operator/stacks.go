// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package operator has the CRDs of the Pulumi operator as far as a move is about them: which fields of what type its Stacks
// have, and that the other kinds exist. What is inside of a field of spec is left open.
package operator

import (
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// FieldTypes maps the names of fields to their types.
type FieldTypes map[string]string

// SpecV1 returns the fields of the operator v1.16.
func SpecV1() FieldTypes {
	return FieldTypes{
		"accessTokenSecret": "string", "backend": "string", "branch": "string", "commit": "string", "config": "object",
		"continueResyncOnCommitMatch": "boolean", "destroyOnFinalize": "boolean", "envRefs": "object", "envSecrets": "array",
		"envs": "array", "expectNoRefreshChanges": "boolean", "fluxSource": "object", "gitAuth": "object", "gitAuthSecret": "string",
		"prerequisites": "array", "programRef": "object", "projectRepo": "string", "refresh": "boolean", "repoDir": "string",
		"resyncFrequencySeconds": "integer", "retryOnUpdateConflict": "boolean", "secrets": "object", "secretsProvider": "string",
		"secretsRef": "object", "stack": "string", "targets": "array", "useLocalStackOnly": "boolean",
	}
}

// SpecV2 returns the fields of the operator v2.9.
func SpecV2() FieldTypes {
	fields := SpecV1()
	maps.Copy(fields, FieldTypes{
		"configRef": "object", "environment": "array", "preview": "boolean", "retryMaxBackoffDurationSeconds": "integer",
		"runProgram": "boolean", "serviceAccountName": "string", "shallow": "boolean", "targetDependents": "boolean",
		"updateTemplate": "object", "workspaceReclaimPolicy": "string", "workspaceTemplate": "object",
	})
	return fields
}

// lastUpdateV1 and lastUpdateV2 return the fields of status.lastUpdate.
func lastUpdateV1() FieldTypes {
	return FieldTypes{
		"lastAttemptedCommit": "string", "lastResyncTime": "date-time", "lastSuccessfulCommit": "string", "permalink": "string",
		"state": "string",
	}
}

func lastUpdateV2() FieldTypes {
	fields := lastUpdateV1()
	maps.Copy(fields, FieldTypes{
		"failures": "integer", "generation": "integer", "message": "string", "name": "string", "reconcileRequest": "string", "type": "string",
	})
	return fields
}

// schema returns a schema of the fields. Objects and lists preserve their contents.
func (f FieldTypes) schema(required ...string) apiextensionsv1.JSONSchemaProps {
	made := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}, Required: required}
	for name, kind := range f {
		field := apiextensionsv1.JSONSchemaProps{Type: kind}
		switch kind {
		case "date-time":
			field.Type, field.Format = "string", kind
		case "object":
			field.XPreserveUnknownFields = ptr.To(true)
		case "array":
			field.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: ptr.To(true)}}
		}
		made.Properties[name] = field
	}
	return made
}

func conditionsSchema() apiextensionsv1.JSONSchemaProps {
	item := FieldTypes{
		"lastTransitionTime": "date-time", "message": "string", "observedGeneration": "integer", "reason": "string", "status": "string", "type": "string",
	}.schema("lastTransitionTime", "message", "reason", "status", "type")
	reason := item.Properties["reason"]
	reason.Pattern, reason.MinLength = `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, ptr.To[int64](1)
	item.Properties["reason"] = reason
	return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
}

// StackCRD returns the CRD of the operator v1, or of v2.
func StackCRD(v2 bool) *apiextensionsv1.CustomResourceDefinition {
	spec, last := SpecV1(), lastUpdateV1()
	status, conditions := FieldTypes{"outputs": "object", "observedGeneration": "integer", "observedReconcileRequest": "string"}.schema(), conditionsSchema()
	if v2 {
		spec, last = SpecV2(), lastUpdateV2()
		status.Properties["projectInfo"] = FieldTypes{"name": "string", "runtime": "string"}.schema("name", "runtime")
		status.Properties["currentUpdate"] = FieldTypes{"generation": "integer", "reconcileRequest": "string", "name": "string", "commit": "string"}.schema()
		conditions.XListType, conditions.XListMapKeys = ptr.To("map"), []string{"type"}
	}
	status.Properties["lastUpdate"], status.Properties["conditions"] = last.schema(), conditions
	served := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage, Deprecated: !storage,
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object",
				Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": {Type: "object"},
					"spec": spec.schema("stack"), "status": status,
				},
			}},
		}
	}
	versions := []apiextensionsv1.CustomResourceDefinitionVersion{served("v1", true), served("v1alpha1", false)}
	if v2 {
		versions[0].Schema.OpenAPIV3Schema.XValidations = apiextensionsv1.ValidationRules{{
			Rule: "size(self.metadata.name) <= 42", Message: "Stack name must be no more than 42 characters in length.",
		}}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "stacks.pulumi.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:    "pulumi.com",
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "Stack", ListKind: "StackList", Plural: "stacks", Singular: "stack"},
			Scope:    apiextensionsv1.NamespaceScoped,
			Versions: versions,
		},
	}
}
