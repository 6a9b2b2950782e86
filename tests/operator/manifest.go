// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Manifest returns all CRDs of the operator v2 as YAML.
func Manifest() ([]byte, error) {
	var manifest []byte
	for _, crd := range []*apiextensionsv1.CustomResourceDefinition{StackCRD(true), programCRD(), workspaceCRD(), updateCRD()} {
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			return nil, fmt.Errorf("converting the CRD %s: %w", crd.Name, err)
		}
		delete(object, "status")
		document, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("writing the CRD %s: %w", crd.Name, err)
		}
		manifest = append(append(manifest, "---\n"...), document...)
	}
	return manifest, nil
}
