// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/operator"
)

// TestManifestsKeepWhatTheOperatorHas expects the CRD to have the operator's fields: a missing one would be dropped
// once the CRD is replaced, from the user's spec and from the status that says whether to run anything.
func TestManifestsKeepWhatTheOperatorHas(t *testing.T) {
	before := operator.StackCRD(true).Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, version := range readCRDs(t)["Stack"].Spec.Versions {
		t.Run(version.Name, func(t *testing.T) {
			NewWithT(t).Expect(notKept("", *before, *version.Schema.OpenAPIV3Schema)).To(BeEmpty())
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
// them. Only v1 describes the fields: both texts would be too large for client-side kubectl apply.
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
	g.Expect(b.Description).To(ContainSubstring("Deprecated: use pulumi.com/v1"))
	g.Expect(withoutDescriptions(*b)).To(Equal(withoutDescriptions(*a)))
	b.Description = ""
	g.Expect(*b).To(Equal(withoutDescriptions(*b)), "a description of a field of v1alpha1")
}

// withoutDescriptions returns a copy of a schema without its texts.
func withoutDescriptions(schema apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	schema = *schema.DeepCopy()
	schema.Description = ""
	for name, field := range schema.Properties {
		schema.Properties[name] = withoutDescriptions(field)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		*schema.AdditionalProperties.Schema = withoutDescriptions(*schema.AdditionalProperties.Schema)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		*schema.Items.Schema = withoutDescriptions(*schema.Items.Schema)
	}
	return schema
}
