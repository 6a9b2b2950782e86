// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

// testdata returns the path of a file among the test manifests.
func (t *tenant) testdata(elements ...string) string {
	t.test.Helper()
	root, err := process.RepoRoot()
	t.Expect(err).NotTo(HaveOccurred())
	return filepath.Join(append([]string{root, "tests", "manifests", "testdata"}, elements...)...)
}

// objectsIn returns the unchanged objects of a test manifest.
func (t *tenant) objectsIn(file string) []*unstructured.Unstructured {
	t.test.Helper()
	return t.objectsOf(t.testdata(file))
}

// objectsOf returns the objects of any file.
func (t *tenant) objectsOf(path string) []*unstructured.Unstructured {
	t.test.Helper()
	text, err := os.ReadFile(path)
	t.Expect(err).NotTo(HaveOccurred())
	objects, err := manifests.Unit{Name: path, Text: string(text)}.Objects()
	t.Expect(err).NotTo(HaveOccurred())
	t.Expect(objects).NotTo(BeEmpty())
	return objects
}

// bring applies the unchanged objects of a user of the Pulumi operator, except for locations: Stacks keep their state
// in the tenant's backend, which knows no organizations, and place says where sources come from. It grants no
// cluster-wide permissions, as nothing here needs them. It returns the Stacks by name.
func (t *tenant) bring(file string, place func(*unstructured.Unstructured), changes ...func(*v1.Stack)) map[string]*v1.Stack {
	t.test.Helper()
	stacks := map[string]*v1.Stack{}
	for _, object := range t.objectsIn(file) {
		switch gvk := object.GroupVersionKind(); {
		case gvk.Group == v1.GroupVersion.Group && gvk.Kind == v1.StackKind:
			stack := t.here(object, changes...)
			t.apply(stack)
			stacks[stack.Name] = stack
			continue
		case gvk.Group == rbacv1.GroupName || gvk.Group == "notification.toolkit.fluxcd.io":
			continue
		case gvk.Group == sourcev1.GroupVersion.Group:
			object.SetAPIVersion(sourcev1.GroupVersion.String())
			place(object)
		}
		t.apply(object)
	}
	return stacks
}

// here returns the Stack of a manifest with the tenant's backend, and the tenant's cloud for its stand-ins.
func (t *tenant) here(object *unstructured.Unstructured, changes ...func(*v1.Stack)) *v1.Stack {
	t.test.Helper()
	stack := &v1.Stack{}
	t.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, stack, true)).To(Succeed())
	if parts := strings.Split(stack.Spec.Stack, "/"); len(parts) > 1 {
		parts[0] = "organization"
		stack.Spec.Stack = strings.Join(parts, "/")
	}
	stack.Spec.Backend = t.backendURL()
	if stack.Spec.EnvRefs == nil {
		stack.Spec.EnvRefs = map[string]v1.ResourceRef{}
	}
	stack.Spec.EnvRefs["PULUMI_CONFIG_PASSPHRASE"] = literal(passphrase)
	stack.Spec.EnvRefs["STAND_IN_CLOUD"] = literal(t.place)
	for _, change := range changes {
		change(stack)
	}
	return stack
}

// nowhere is the place for no source.
func (t *tenant) nowhere(object *unstructured.Unstructured) {
	t.test.Helper()
	t.test.Fatalf("there is no place for %s %s", object.GetKind(), object.GetName())
}

// following is the place for a GitRepository that follows this repository.
func (t *tenant) following(repo *sources.GitRepo) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		t.test.Helper()
		t.Expect(object.GetKind()).To(Equal(sourcev1.GitRepositoryKind))
		t.Expect(unstructured.SetNestedField(object.Object, repo.URL(), "spec", "url")).To(Succeed())
		t.Expect(unstructured.SetNestedStringMap(object.Object, map[string]string{"branch": sources.Branch}, "spec", "ref")).To(Succeed())
	}
}

// repo creates a repository with these files.
func (t *tenant) repo(name string, files sources.Files) *sources.GitRepo {
	t.test.Helper()
	repo, err := t.gitServer.NewRepo(t.ctx, t.namespace+"-"+name)
	t.Expect(err).NotTo(HaveOccurred())
	_, err = repo.Commit(t.ctx, files, "first")
	t.Expect(err).NotTo(HaveOccurred())
	return repo
}

// standIn is the record of a resource in the stand-in for its provider.
type standIn struct {
	ID, Type string
	Inputs   map[string]any
}

// standIns returns the existing resources by their name in the program.
func (t *tenant) standIns() map[string]standIn {
	t.test.Helper()
	things, err := t.cloud.Things()
	t.Expect(err).NotTo(HaveOccurred())
	found := map[string]standIn{}
	for _, thing := range things {
		t.Expect(found).NotTo(HaveKey(thing.Name), "there are two of them")
		made := standIn{ID: thing.ID, Type: thing.Tags["type"]}
		t.Expect(thing.Value).NotTo(BeNil())
		t.Expect(json.Unmarshal([]byte(*thing.Value), &made.Inputs)).To(Succeed())
		found[thing.Name] = made
	}
	return found
}

// mayWrite grants an account write access to some kinds in the tenant's namespace.
func (t *tenant) mayWrite(account, group string, resources ...string) {
	t.test.Helper()
	meta := metav1.ObjectMeta{Name: account + "-" + resources[0]}
	t.apply(&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{group}, Resources: resources, Verbs: []string{"get", "create", "patch", "delete"},
	}}})
	t.apply(&rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: t.namespace}},
	})
}

// destroyedWith expects that all resources of the Stack, and its stack in the backend, are gone with it.
func (t *tenant) destroyedWith(stack *v1.Stack, project string) {
	t.test.Helper()
	name := stack.Spec.Stack[strings.LastIndex(stack.Spec.Stack, "/")+1:]
	t.Expect(t.stateFile(project, name)).To(BeAnExistingFile())
	t.delete(stack)
	t.awaitGone(stack)
	t.Expect(t.stateFile(project, name)).NotTo(BeAnExistingFile())
}

// keysOf reads a Secret.
func (t *tenant) keysOf(name string) map[string]string {
	t.test.Helper()
	var secret corev1.Secret
	secret.Name, secret.Namespace = name, t.namespace
	t.Expect(t.Get(t.ctx, keyOf(&secret), &secret)).To(Succeed())
	keys := map[string]string{}
	for key, value := range secret.Data {
		keys[key] = string(value)
	}
	return keys
}
