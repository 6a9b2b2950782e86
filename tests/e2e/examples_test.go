// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// The examples, run from their own files. What a test changes in them is what their READMEs have a user set: where sources,
// backends and services are. Their Secrets and whatever else they have stay.

// inExamples is the path of a file of the examples.
func (t *tenant) inExamples(file string) string {
	t.test.Helper()
	root, err := process.RepoRoot()
	t.Expect(err).NotTo(HaveOccurred())
	return filepath.Join(root, "examples", file)
}

// tries applies the manifests of an example, each changed by place where it is not nil, and returns the Stacks by name. What
// has no namespace is left out, as is what is for kustomize-controller: a tenant has one namespace.
func (t *tenant) tries(file string, place func(*unstructured.Unstructured), changes ...func(*v1.Stack)) map[string]*v1.Stack {
	t.test.Helper()
	stacks := map[string]*v1.Stack{}
	for _, object := range t.objectsOf(t.inExamples(file)) {
		gvk := object.GroupVersionKind()
		if gvk.Group == v1.GroupVersion.Group && gvk.Kind == v1.StackKind {
			stack := t.here(object, changes...)
			t.apply(stack)
			stacks[stack.Name] = stack
			continue
		}
		if gvk.Group == "kustomize.toolkit.fluxcd.io" || gvk.Kind == "Namespace" {
			continue
		}
		if place != nil {
			place(object)
		}
		t.ofTheTenant(object)
		t.apply(object)
	}
	return stacks
}

// ofTheTenant has the subjects of a RoleBinding be accounts of the tenant.
func (t *tenant) ofTheTenant(object *unstructured.Unstructured) {
	t.test.Helper()
	subjects, found, err := unstructured.NestedSlice(object.Object, "subjects")
	t.Expect(err).NotTo(HaveOccurred())
	if !found {
		return
	}
	for _, subject := range subjects {
		subject.(map[string]any)["namespace"] = t.namespace
	}
	t.Expect(unstructured.SetNestedSlice(object.Object, subjects, "subjects")).To(Succeed())
}

// setIn changes fields of the spec of the objects of a kind, and no other's.
func (t *tenant) setIn(kind string, fields map[string]any) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		t.test.Helper()
		if object.GetKind() != kind {
			return
		}
		for field, value := range fields {
			t.Expect(unstructured.SetNestedField(object.Object, value, "spec", field)).To(Succeed())
		}
	}
}

// exampleFiles are the files of a folder of the examples.
func (t *tenant) exampleFiles(folder string) sources.Files {
	t.test.Helper()
	files, err := sources.ReadDir(t.inExamples(folder))
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(files).NotTo(BeEmpty())
	return files
}

// released is the program of the examples of sources, with the release that it is tagged with in its cloud.
func (t *tenant) released(release string) sources.Files {
	t.test.Helper()
	files := t.exampleFiles("git-source/program")
	const first = "release: first"
	t.Expect(files["Pulumi.yaml"]).To(ContainSubstring(first))
	files["Pulumi.yaml"] = strings.Replace(files["Pulumi.yaml"], first, "release: "+release, 1)
	return files
}

// showsRelease says that the bucket of the program is that of the release, and that the Stack says which it is.
func (t *tenant) showsRelease(stack *v1.Stack, release string) {
	t.test.Helper()
	bucket := t.standIns()["bucket"]
	t.Expect(bucket.Type).To(Equal("aws:s3/bucket:Bucket"))
	t.Expect(bucket.Inputs).To(HaveKeyWithValue("tags", map[string]any{"release": release}))
	t.Expect(t.textOf(stack, "bucket")).To(Equal(bucket.ID))
}

// look has a source look for what is new, which it does by itself once in a minute.
func (t *tenant) look(source client.Object, name string) {
	t.test.Helper()
	source.SetName(name)
	source.SetNamespace(t.namespace)
	request(t, source)
}

// releases is the repository of examples/git-source, with a first release, and its GitRepository and Stack applied.
func (t *tenant) releases() (*sources.GitRepo, *v1.Stack) {
	t.test.Helper()
	repo := t.repo("website", in("program", t.released("first")))
	t.Expect(repo.Tag(t.ctx, "v1.0.0")).To(Succeed())
	t.tries("git-source/source.yaml", t.setIn(sourcev1.GitRepositoryKind, map[string]any{"url": repo.URL(), "interval": "1h"}))
	stack := t.tries("git-source/stack.yaml", nil)["website"]
	t.awaitReady(stack)
	t.Expect(stack.Status.LastAppliedRevision).To(HavePrefix("v1.0.0@sha1:"))
	t.showsRelease(stack, "first")
	return repo, stack
}

// release commits and tags.
func (t *tenant) release(repo *sources.GitRepo, release, tag string) {
	t.test.Helper()
	_, err := repo.Commit(t.ctx, in("program", t.released(release)), release)
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(repo.Tag(t.ctx, tag)).To(Succeed())
}

// readmeOf is the text of the README of an example.
func (t *tenant) readmeOf(folder string) string {
	t.test.Helper()
	text, err := os.ReadFile(t.inExamples(filepath.Join(folder, "README.md")))
	t.Expect(err).NotTo(HaveOccurred())
	return string(text)
}
