// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestManifestsInMarkdown(t *testing.T) {
	for _, test := range []struct {
		name, page string
		units      []Unit
	}{
		{"a page without blocks has no unit", "# Title\n\ntext\n", nil},
		{"a block of another language is no unit", "```sh\nkubectl get stacks\n```\n", nil},
		{"a block is found with its line", "text\n\n```yaml\na: 1\n```\n", []Unit{{"page:3", "a: 1\n"}}},
		{"capitals and words after the language do not matter", "```YAML title=x\na: 1\n```\n", []Unit{{"page:1", "a: 1\n"}}},
		{"the indentation of a block in a list is taken off", "- text\n\n  ```yml\n  a:\n    b: 1\n  ```\n", []Unit{{"page:3", "a:\n  b: 1\n"}}},
		{"yaml inside a longer fence of another language is text", "````md\n```yaml\na: 1\n```\n````\n", nil},
		{"yaml after a block of another language is found", "```\n```\n```yaml\na: 1\n```\n", []Unit{{"page:3", "a: 1\n"}}},
		{"code in a line is no fence", "```yaml``` is how it starts\n\n```yaml\na: 1\n```\n", []Unit{{"page:3", "a: 1\n"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			NewWithT(t).Expect(FencedBlocks("page", test.page)).To(Equal(test.units))
		})
	}
}

func TestABlockHasTheTextBeforeIt(t *testing.T) {
	NewWithT(t).Expect(Blocks("page", "# Title\n\nSave this:\n\n```ts\na\n```\n\nType:\n```sh\nb\n```\n")).To(Equal([]Block{
		{Unit{"page:5", "a\n"}, "ts", "# Title\n\nSave this:\n\n"},
		{Unit{"page:10", "b\n"}, "sh", "\nType:\n"},
	}))
}

func TestManifestsInAUnit(t *testing.T) {
	for _, test := range []struct {
		name, text string
		kinds      []string
		fault      string
	}{
		{"each document is found", "---\napiVersion: v1\nkind: Secret\n---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\n", []string{"Secret", "ConfigMap"}, ""},
		{"a fragment is no object", "spec:\n  stack: dev\n", nil, ""},
		{"a list is no object", "- apiVersion\n", nil, ""},
		{"a fragment must be YAML all the same", "spec: {\n", nil, "did not find expected"},
		{"a key given twice is a fault", "spec: 1\nspec: 2\n", nil, "already set"},
		{"an object without a kind is a fault", "apiVersion: v1\n", nil, "Kind"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			objects, err := Unit{Name: "here", Text: test.text}.Objects()
			if test.fault != "" {
				g.Expect(err).To(MatchError(And(ContainSubstring("here: "), ContainSubstring(test.fault))))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			var kinds []string
			for _, object := range objects {
				kinds = append(kinds, object.GetKind())
			}
			g.Expect(kinds).To(Equal(test.kinds))
		})
	}
}
