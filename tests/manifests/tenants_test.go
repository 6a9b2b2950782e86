// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestNamespacesOfTenantsEnforcePodSecurity looks at each namespace that is shown with an account that may create pods
// there: without Pod Security, such a pod can read the tokens of all pods of its node.
func TestNamespacesOfTenantsEnforcePodSecurity(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	checked := 0
	for _, unit := range units {
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, namespace := range objects {
			if namespace.GetKind() == "Namespace" && slices.ContainsFunc(objects, letsCreatePods(namespace.GetName())) {
				checked++
				g.Expect(namespace.GetLabels()).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"), "%s: %s", unit.Name, namespace.GetName())
			}
		}
	}
	g.Expect(checked).To(BeNumerically(">=", 2), "the guide and the example")
}

func letsCreatePods(namespace string) func(*unstructured.Unstructured) bool {
	return func(binding *unstructured.Unstructured) bool {
		role, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
		return binding.GetKind() == "RoleBinding" && binding.GetNamespace() == namespace && slices.Contains([]string{"edit", "admin", "cluster-admin"}, role)
	}
}
