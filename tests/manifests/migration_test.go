// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/operator"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// TestManifestsMigrationTable compares the tables of docs/migration/fields.md with the operator's fields that this CRD
// keeps, and the version that introduced each.
func TestManifestsMigrationTable(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "docs", "migration", "fields.md"))
	g.Expect(err).NotTo(HaveOccurred())
	ours := readCRDs(t)["Stack"].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	before := operator.StackCRD(false).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	after := operator.StackCRD(true).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	for heading, section := range map[string]string{"Stack spec": "spec", "Stack status": "status"} {
		t.Run(section, func(t *testing.T) {
			g := NewWithT(t)
			rows := fieldRows(string(text), heading)
			var listed []string
			for _, row := range rows {
				listed = append(listed, row[0])
				g.Expect(ours[section].Properties).To(HaveKey(row[0]))
				_, was := before[section].Properties[row[0]]
				g.Expect(row[1] != "no").To(Equal(was), "%s: does v1 have it?", row[0])
			}
			g.Expect(listed).To(Equal(slices.Sorted(maps.Keys(after[section].Properties))), "each field once, in order")
		})
	}
}

// fieldRows returns the rows of the table under a heading that begin with a field in code.
func fieldRows(page, heading string) [][]string {
	_, after, _ := strings.Cut(page, "\n### "+heading+"\n")
	part, _, _ := strings.Cut(after, "\n### ")
	var rows [][]string
	for _, match := range regexp.MustCompile("(?m)^\\| `([a-zA-Z]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(part, -1) {
		rows = append(rows, match[1:])
	}
	return rows
}

// TestManifestsCommonPathOfAMigration expects each command of the front page in the pages whose commands tests type.
func TestManifestsCommonPathOfAMigration(t *testing.T) {
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{root, "docs"}, path...)...))
		g.Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
	typed := strings.Join(strings.Fields(read("migration", "steps.md")+read("installation.md")), " ")
	_, path, _ := strings.Cut(read("migration.md"), "\n## The common path\n")
	path, _, _ = strings.Cut(path, "\n## ")
	commands := regexp.MustCompile("(?m)^kubectl .*$").FindAllString(path, -1)
	g.Expect(len(commands)).To(BeNumerically(">", 5))
	for _, command := range commands {
		g.Expect(typed).To(ContainSubstring(strings.Replace(command, "<release>-controller-manager", "<name>", 1)))
	}
}
