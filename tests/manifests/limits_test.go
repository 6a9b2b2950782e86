// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestManifestsSpecPageNamesTheLimitsOfLists compares the table of the page with the CRD.
func TestManifestsSpecPageNamesTheLimitsOfLists(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "docs", "spec", "v1", "stacks.md"))
	g.Expect(err).NotTo(HaveOccurred())
	schema := readCRDs(t)["Stack"].Spec.Versions[0].Schema.OpenAPIV3Schema
	limits := map[string]string{}
	listLimits(".spec", schema.Properties["spec"], limits)
	g.Expect(limits).NotTo(BeEmpty())
	g.Expect(shownLimits(string(page))).To(Equal(limits))
}

// listLimits adds the lists and maps among the fields below one, and how many entries they may have.
func listLimits(path string, schema apiextensionsv1.JSONSchemaProps, limits map[string]string) {
	for _, limit := range []*int64{schema.MaxItems, schema.MaxProperties} {
		if limit != nil {
			limits[path] = strconv.FormatInt(*limit, 10)
		}
	}
	for name, field := range schema.Properties {
		listLimits(path+"."+name, field, limits)
	}
}

// shownLimits reads the table of the page.
func shownLimits(page string) map[string]string {
	_, table, _ := strings.Cut(page, "| field | entries |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	limits := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (.*) \| (\d+)(?: each)? \|$`).FindAllStringSubmatch(table, -1) {
		for _, field := range strings.Split(row[1], ", ") {
			limits[strings.Trim(field, "`")] = row[2]
		}
	}
	return limits
}
