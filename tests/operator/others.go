// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// programCRD returns the CRD of Programs.
func programCRD() *apiextensionsv1.CustomResourceDefinition {
	return open("pulumi.com", "v1", "Program", "programs")
}

// workspaceCRD returns the CRD of the objects for which the operator v2 runs a pod each.
func workspaceCRD() *apiextensionsv1.CustomResourceDefinition {
	return open("auto.pulumi.com", "v1alpha1", "Workspace", "workspaces")
}

// updateCRD returns the CRD of the runs of the operator v2, which kubectl shows as it does those of the operator.
func updateCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := open("auto.pulumi.com", "v1alpha1", "Update", "updates")
	for _, condition := range []string{"Progressing", "Failed", "Complete"} {
		crd.Spec.Versions[0].AdditionalPrinterColumns = append(crd.Spec.Versions[0].AdditionalPrinterColumns,
			apiextensionsv1.CustomResourceColumnDefinition{
				Name: condition, Type: "string", JSONPath: `.status.conditions[?(@.type=="` + condition + `")].status`,
			})
	}
	return crd
}

// open returns the CRD of a kind that may have any fields.
func open(group, version, kind, plural string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: kind, ListKind: kind + "List", Plural: plural, Singular: plural[:len(plural)-1],
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	}
}
