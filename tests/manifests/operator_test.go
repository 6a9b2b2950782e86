// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// operatorFields returns the fields of the Pulumi operator's Stack, with those of gitAuth in its place.
func operatorFields() []string {
	fields := operator.SpecV2()
	delete(fields, "gitAuth")
	return append(slices.Sorted(maps.Keys(fields)), "gitAuth.accessToken", "gitAuth.sshAuth", "gitAuth.basicAuth", "gitAuth.githubApp")
}

// operatorStacks returns the Stacks among the test data, by file.
func operatorStacks(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())
	stacks := map[string][]*unstructured.Unstructured{}
	for _, unit := range units {
		if !strings.HasPrefix(unit.Name, filepath.Join("tests", "manifests", "testdata")) {
			continue
		}
		objects, err := unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			if object.GroupVersionKind() == v1.GroupVersion.WithKind(v1.StackKind) {
				stacks[unit.Name] = append(stacks[unit.Name], object)
			}
		}
	}
	return stacks
}

func TestManifestsOfThePulumiOperatorHaveEachOfItsFields(t *testing.T) {
	stacks := operatorStacks(t)
	for _, field := range operatorFields() {
		t.Run(field, func(t *testing.T) {
			g := NewWithT(t)
			shown := stacks[filepath.Join("tests", "manifests", "testdata", "operator", "fields", field+".yaml")]
			g.Expect(shown).To(HaveLen(1))
			_, found, err := unstructured.NestedFieldNoCopy(shown[0].Object, append([]string{"spec"}, strings.Split(field, ".")...)...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(BeTrue(), "the Stack of the file has the field")
		})
	}
}

// testFirstVersion creates the Stacks in the Pulumi operator's first version, and reads them in today's.
func testFirstVersion(t *testing.T, server *api) {
	namespace := server.namespace(t)
	for name, stacks := range operatorStacks(t) {
		t.Run(name, func(t *testing.T) {
			for _, stack := range stacks {
				g := NewWithT(t)
				stack.SetAPIVersion("pulumi.com/v1alpha1")
				stack.SetNamespace(namespace)
				stack.SetGenerateName(stack.GetName() + "-")
				stack.SetName("")
				created := stack.DeepCopy()
				g.Expect(server.strict.Create(t.Context(), created)).To(Succeed())
				g.Expect(created.Object["spec"]).To(Equal(stack.Object["spec"]))
				read := &unstructured.Unstructured{}
				read.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.StackKind))
				read.SetName(created.GetName())
				read.SetNamespace(namespace)
				g.Expect(server.strict.Get(t.Context(), client.ObjectKeyFromObject(read), read)).To(Succeed())
				g.Expect(read.Object["spec"]).To(Equal(stack.Object["spec"]))
			}
		})
	}
}
