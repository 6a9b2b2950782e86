// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// maxCRD leaves enough room in the 256 KiB for all annotations of an object, where client-side kubectl apply keeps a
// copy in JSON.
const maxCRD = 200_000

// readCRDs returns the CRDs of this project by kind.
func readCRDs(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	paths, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		applied, err := yaml.YAMLToJSON(text)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(applied)).To(BeNumerically("<", maxCRD), "bytes of %s in an annotation", path)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(yaml.UnmarshalStrict(text, crd)).To(Succeed())
		crds[crd.Spec.Names.Kind] = crd
	}
	g.Expect(crds).To(And(HaveLen(3), HaveKey("Stack"), HaveKey("Program"), HaveKey("PolicySet")))
	return crds
}

func TestManifestsOfTheCRDs(t *testing.T) {
	for kind, crd := range readCRDs(t) {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			// With this label `flux uninstall` would delete the CRD, and with it every Stack, while the controller still runs.
			g.Expect(crd.Labels).NotTo(HaveKey("app.kubernetes.io/part-of"))
			// ${...} belongs to Pulumi in a Program: kustomize-controller must not replace it in the CRD's own text.
			g.Expect(crd.Annotations).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/substitute", "disabled"))
			g.Expect(crd.Spec.Versions[0].Name).To(Equal("v1"))
			g.Expect(crd.Spec.Versions[0].Storage).To(BeTrue())
			g.Expect(undescribed("", *crd.Spec.Versions[0].Schema.OpenAPIV3Schema)).To(BeEmpty(), "fields that `kubectl explain` says nothing of")
		})
	}
}

// undescribed lists the fields below a schema without a description.
func undescribed(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	var paths []string
	for name, field := range schema.Properties {
		if field.Description == "" && path+"."+name != ".metadata" {
			paths = append(paths, path+"."+name)
		}
		paths = append(paths, undescribed(path+"."+name, field)...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		paths = append(paths, undescribed(path+".*", *schema.AdditionalProperties.Schema)...)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		paths = append(paths, undescribed(path+"[]", *schema.Items.Schema)...)
	}
	return paths
}

// TestManifestsSpecPages compares the API pages with the API: no field is missing, and none is made up.
func TestManifestsSpecPages(t *testing.T) {
	crds := readCRDs(t)
	root, err := process.RepoRoot()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, test := range []struct {
		page, kind string
		sections   []string
	}{
		{"stacks.md", "Stack", []string{"spec", "status"}},
		{"programs.md", "Program", []string{"program", "status"}},
		{"policysets.md", "PolicySet", []string{"spec", "status"}},
	} {
		t.Run(test.page, func(t *testing.T) {
			g := NewWithT(t)
			text, err := os.ReadFile(filepath.Join(root, "docs", "spec", "v1", test.page))
			g.Expect(err).NotTo(HaveOccurred())
			schema := crds[test.kind].Spec.Versions[0].Schema.OpenAPIV3Schema
			named := namedFields(string(text), test.sections)
			for _, section := range test.sections {
				for field := range schema.Properties[section].Properties {
					g.Expect(named).To(ContainElement("."+section+"."+field), "a field that the page does not tell of")
				}
			}
			for _, path := range named {
				g.Expect(exists(*schema, strings.Split(path, ".")[1:])).To(BeTrue(), "the page tells of %s, which is no field", path)
			}
		})
	}
}

// TestManifestsSpecPageListsEveryReason compares the page with the reasons of the Ready condition.
func TestManifestsSpecPageListsEveryReason(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "docs", "spec", "v1", "stacks.md"))
	g.Expect(err).NotTo(HaveOccurred())
	code, err := os.ReadFile(filepath.Join(root, "api", "v1", "condition_types.go"))
	g.Expect(err).NotTo(HaveOccurred())
	reasons := regexp.MustCompile(`Reason = "([A-Za-z]+)"`).FindAllStringSubmatch(string(code), -1)
	g.Expect(reasons).NotTo(BeEmpty())
	for _, reason := range reasons {
		g.Expect(string(page)).To(ContainSubstring("| `" + reason[1] + "` |"))
	}
}

// namedFields lists the field paths in code, such as `.spec.stack`, on a page.
func namedFields(page string, sections []string) []string {
	expression := regexp.MustCompile("`(\\.(?:" + strings.Join(sections, "|") + ")(?:\\.[A-Za-z]+)+)")
	var paths []string
	for _, match := range expression.FindAllStringSubmatch(page, -1) {
		paths = append(paths, match[1])
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// exists reports whether the schema has the field. A map has any key.
func exists(schema apiextensionsv1.JSONSchemaProps, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		return exists(*schema.Items.Schema, path)
	}
	if field, ok := schema.Properties[path[0]]; ok {
		return exists(field, path[1:])
	}
	return schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil &&
		exists(*schema.AdditionalProperties.Schema, path[1:])
}
