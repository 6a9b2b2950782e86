// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestSecretsOfTheStartAreInNothingElse: the controller masks the values that a run gets from Secrets, also within names. A
// value such as the name of the namespace makes `***` of that name in all that a new user looks at.
func TestSecretsOfTheStartAreInNothingElse(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	values := 0
	for _, unit := range units {
		if !strings.HasPrefix(unit.Name, filepath.Join("examples", "kind")) {
			continue
		}
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			secret, _, err := unstructured.NestedStringMap(object.Object, "stringData")
			g.Expect(err).NotTo(HaveOccurred())
			for _, value := range secret {
				values++
				for _, other := range objects {
					if other.GetKind() != "Secret" {
						text, err := other.MarshalJSON()
						g.Expect(err).NotTo(HaveOccurred())
						g.Expect(strings.ToLower(string(text))).NotTo(ContainSubstring(strings.ToLower(value)), unit.Name)
					}
				}
			}
		}
	}
	g.Expect(values).To(BeNumerically(">=", 5))
}
