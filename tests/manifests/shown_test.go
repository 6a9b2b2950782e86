// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

func testShownManifests(t *testing.T, server *api) {
	root, err := process.RepoRoot()
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	units, err := Find(root)
	g.Expect(err).NotTo(HaveOccurred())

	kinds := map[string]int{}
	for _, unit := range units {
		t.Run(unit.Name, func(t *testing.T) {
			objects, err := unit.Objects()
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			namespace := ""
			for _, object := range objects {
				if isForKustomize(object) {
					continue
				}
				if namespace == "" {
					namespace = server.namespace(t)
				}
				server.createShown(t, namespace, object)
				kinds[object.GetKind()]++
			}
		})
	}
	// Otherwise a bug in finding them would look as if all were right.
	for kind, least := range map[string]int{
		v1.StackKind: 5, v1.ProgramKind: 2, sourcev1.GitRepositoryKind: 2, sourcev1.BucketKind: 1, "ArtifactGenerator": 1,
	} {
		g.Expect(kinds[kind]).To(BeNumerically(">=", least), "objects of kind %s that were created", kind)
	}
}

// isForKustomize reports whether it is a file for kustomize, and no object.
func isForKustomize(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().Group == "kustomize.config.k8s.io"
}

// written names the field of an object of ours that the user writes.
func written(object *unstructured.Unstructured) (field string, ok bool) {
	switch object.GroupVersionKind() {
	case v1.GroupVersion.WithKind(v1.StackKind):
		return "spec", true
	case v1.GroupVersion.WithKind(v1.ProgramKind):
		return "program", true
	}
	return "", false
}

// createShown creates the object as kubectl would, and applies it as kustomize-controller would.
func (a *api) createShown(t *testing.T, namespace string, object *unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	if strings.HasSuffix(object.GroupVersionKind().Group, ".toolkit.fluxcd.io") {
		// A page of the past names a version that Flux no longer serves. Its readers write the one it does.
		object.SetAPIVersion(a.servedVersion(t, object))
	}
	if a.namespaced(t, object) {
		object.SetNamespace(namespace)
	}
	created := object.DeepCopy()
	err := a.strict.Create(t.Context(), created)
	if object.GetNamespace() == "" && apierrors.IsAlreadyExists(err) {
		return // The API server looks at the whole object before it looks for another of this name.
	}
	g.Expect(err).NotTo(HaveOccurred())
	if field, ok := written(object); ok {
		g.Expect(created.Object[field]).To(Equal(object.Object[field]), "%s is stored as it was written", field)
	}
	g.Expect(a.strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner("kustomize-controller"), client.ForceOwnership)).To(Succeed())
}
