// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestHeadingsHaveTheAnchorsOfGitHub(t *testing.T) {
	for _, test := range []struct {
		name, page string
		anchors    []string
	}{
		{"no heading", "text\n", nil},
		{"words", "# One\n\n## Two words\n", []string{"one", "two-words"}},
		{"underlined", "Title\n=====\n", []string{"title"}},
		{"marks are dropped and their spaces are not", "## Secrets in git, with SOPS\n\n## A & B\n", []string{"secrets-in-git-with-sops", "a--b"}},
		{"code, emphasis and links are their words", "## `spec.a_b` and *c* in [d](e.md)\n", []string{"speca_b-and-c-in-d"}},
		{"letters of all languages", "## Größe 10\n", []string{"größe-10"}},
		{"the same heading again", "## A\n\n## A\n\n## A\n", []string{"a", "a-1", "a-2"}},
		{"a number that is taken", "## A 1\n\n## A\n\n## A\n", []string{"a-1", "a", "a-2"}},
		{"a comment in code", "```sh\n# not one\n```\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			NewWithT(t).Expect(Read([]byte(test.page)).Anchors).To(Equal(test.anchors))
		})
	}
}

func TestLinksAreFound(t *testing.T) {
	for _, test := range []struct {
		name, page string
		links      []Link
	}{
		{"in a text", "# T\n\na [b](c.md)\n", []Link{{3, "c.md"}}},
		{"in a table", "| a |\n|---|\n| [b](c.md#d) |\n", []Link{{3, "c.md#d"}}},
		{"in a list in a quote", "> - [b](c.md)\n", []Link{{1, "c.md"}}},
		{"in a heading", "# [b](c.md)\n", []Link{{1, "c.md"}}},
		{"by a name", "[b][n]\n\n[n]: c.md\n", []Link{{1, "c.md"}}},
		{"an image in a link", "[![b](c.svg)](d.md)\n", []Link{{1, "d.md"}, {1, "c.svg"}}},
		{"in code", "`[b](c.md)`\n\n    [b](c.md)\n\n```\n[b](c.md)\n```\n", nil},
		{"in a comment", "<!-- [b](c.md) -->\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			NewWithT(t).Expect(Read([]byte(test.page)).Links).To(Equal(test.links))
		})
	}
}
