// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The CRD of the Pulumi operator as far as a move is about it: which fields of what type it has. What is inside of a
// field of spec is left open.

// fieldTypes maps the names of fields to their types.
type fieldTypes map[string]string

// operatorSpecV1 returns the fields of the operator v1.16.
func operatorSpecV1() fieldTypes {
	return fieldTypes{
		"accessTokenSecret": "string", "backend": "string", "branch": "string", "commit": "string", "config": "object",
		"continueResyncOnCommitMatch": "boolean", "destroyOnFinalize": "boolean", "envRefs": "object", "envSecrets": "array",
		"envs": "array", "expectNoRefreshChanges": "boolean", "fluxSource": "object", "gitAuth": "object", "gitAuthSecret": "string",
		"prerequisites": "array", "programRef": "object", "projectRepo": "string", "refresh": "boolean", "repoDir": "string",
		"resyncFrequencySeconds": "integer", "retryOnUpdateConflict": "boolean", "secrets": "object", "secretsProvider": "string",
		"secretsRef": "object", "stack": "string", "targets": "array", "useLocalStackOnly": "boolean",
	}
}

// operatorSpecV2 returns the fields of the operator v2.9.
func operatorSpecV2() fieldTypes {
	fields := operatorSpecV1()
	maps.Copy(fields, fieldTypes{
		"configRef": "object", "environment": "array", "preview": "boolean", "retryMaxBackoffDurationSeconds": "integer",
		"runProgram": "boolean", "serviceAccountName": "string", "shallow": "boolean", "targetDependents": "boolean",
		"updateTemplate": "object", "workspaceReclaimPolicy": "string", "workspaceTemplate": "object",
	})
	return fields
}

// operatorLastUpdateV1 and operatorLastUpdateV2 return the fields of status.lastUpdate.
func operatorLastUpdateV1() fieldTypes {
	return fieldTypes{
		"lastAttemptedCommit": "string", "lastResyncTime": "date-time", "lastSuccessfulCommit": "string", "permalink": "string",
		"state": "string",
	}
}

func operatorLastUpdateV2() fieldTypes {
	fields := operatorLastUpdateV1()
	maps.Copy(fields, fieldTypes{
		"failures": "integer", "generation": "integer", "message": "string", "name": "string", "reconcileRequest": "string", "type": "string",
	})
	return fields
}

// schema returns a schema of the fields. Objects and lists preserve their contents.
func (f fieldTypes) schema(required ...string) apiextensionsv1.JSONSchemaProps {
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
	item := fieldTypes{
		"lastTransitionTime": "date-time", "message": "string", "observedGeneration": "integer", "reason": "string", "status": "string", "type": "string",
	}.schema("lastTransitionTime", "message", "reason", "status", "type")
	reason := item.Properties["reason"]
	reason.Pattern, reason.MinLength = `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, ptr.To[int64](1)
	item.Properties["reason"] = reason
	return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
}

// operatorCRD returns the CRD of the operator v1, or of v2.
func operatorCRD(v2 bool) *apiextensionsv1.CustomResourceDefinition {
	spec, last := operatorSpecV1(), operatorLastUpdateV1()
	status := fieldTypes{"outputs": "object", "observedGeneration": "integer", "observedReconcileRequest": "string"}.schema()
	if v2 {
		spec, last = operatorSpecV2(), operatorLastUpdateV2()
		status.Properties["projectInfo"] = fieldTypes{"name": "string", "runtime": "string"}.schema("name", "runtime")
		status.Properties["currentUpdate"] = fieldTypes{"generation": "integer", "reconcileRequest": "string", "name": "string", "commit": "string"}.schema()
	}
	status.Properties["lastUpdate"], status.Properties["conditions"] = last.schema(), conditionsSchema()
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
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "stacks.pulumi.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:    "pulumi.com",
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "Stack", ListKind: "StackList", Plural: "stacks", Singular: "stack"},
			Scope:    apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{served("v1", true), served("v1alpha1", false)},
		},
	}
}

// TestManifestsKeepWhatTheOperatorHas expects the CRD to have the operator's fields: a missing one would be dropped
// once the CRD is replaced, from the user's spec and from the status that says whether to run anything.
func TestManifestsKeepWhatTheOperatorHas(t *testing.T) {
	operator := operatorCRD(true).Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, version := range readCRDs(t)["Stack"].Spec.Versions {
		t.Run(version.Name, func(t *testing.T) {
			NewWithT(t).Expect(notKept("", *operator, *version.Schema.OpenAPIV3Schema)).To(BeEmpty())
		})
	}
}

// notKept lists the fields of one schema that the other lacks, or has with another type.
func notKept(path string, before, after apiextensionsv1.JSONSchemaProps) []string {
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(before.Properties)) {
		there, ok := after.Properties[name]
		if was := before.Properties[name]; !ok || was.Type != there.Type || was.Format != "" && was.Format != there.Format {
			lost = append(lost, path+"."+name)
		} else {
			lost = append(lost, notKept(path+"."+name, was, there)...)
		}
	}
	return lost
}

// TestManifestsOfBothVersionsAreTheSame expects v1alpha1 to have the schema of v1, as no webhook converts between
// them.
func TestManifestsOfBothVersionsAreTheSame(t *testing.T) {
	g := NewWithT(t)
	versions := readCRDs(t)["Stack"].Spec.Versions
	g.Expect(versions).To(HaveLen(2))
	v1, v1alpha1 := versions[0], versions[1]
	g.Expect(v1alpha1.Name).To(Equal("v1alpha1"))
	g.Expect(v1alpha1.Served && !v1alpha1.Storage && v1alpha1.Deprecated).To(BeTrue())
	g.Expect(v1alpha1.Subresources).To(Equal(v1.Subresources))
	g.Expect(v1alpha1.AdditionalPrinterColumns).To(Equal(v1.AdditionalPrinterColumns))
	a, b := v1.Schema.OpenAPIV3Schema, v1alpha1.Schema.OpenAPIV3Schema
	b.Description = a.Description // it says that the version is deprecated
	g.Expect(b).To(Equal(a))
}
