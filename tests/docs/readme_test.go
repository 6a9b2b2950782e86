// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

// TestEachReasonInTheREADMELinksItsProof looks for a test, or a page with tests, in each item of Why.
func TestEachReasonInTheREADMELinksItsProof(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	reasons := reasonsOf(texts["README.md"])
	g.Expect(len(reasons)).To(BeNumerically(">=", 5))
	for _, reason := range reasons {
		g.Expect(reason.text).To(MatchRegexp(`\]\(tests/\S+_test\.go\)`), reason.name)
	}
}

// TestTheREADMECountsTheComparison compares the number that it has with the page.
func TestTheREADMECountsTheComparison(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	found := regexp.MustCompile(`\]\(docs/comparison\.md\) has (\d+) rows`).FindStringSubmatch(texts["README.md"])
	g.Expect(found).NotTo(BeNil())
	g.Expect(found[1]).To(Equal(strconv.Itoa(len(rows(section(texts["docs/comparison.md"], "## Feature by feature"))))))
	g.Expect(rows(section(texts["README.md"], "## Comparison\n"))).To(HaveLen(6))
}

type reason struct{ name, text string }

// reasonsOf returns the items of the list Why of the README by the words that they begin with.
func reasonsOf(readme string) (reasons []reason) {
	for item := range strings.SplitSeq(section(readme, "## Why\n"), "\n- ") {
		if found := regexp.MustCompile(`^\*\*(.+)\.\*\* `).FindStringSubmatch(item); found != nil {
			reasons = append(reasons, reason{found[1], item})
		}
	}
	return reasons
}

// TestTheREADMEFitsAPhone and a terminal: a table of more columns and a longer line of code have to be scrolled to the side.
func TestTheREADMEFitsAPhone(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	var code, tables int
	fenced := false
	for line := range strings.Lines(texts["README.md"]) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if fenced || strings.HasPrefix(line, "    ") {
			code++
			g.Expect(utf8.RuneCountInString(strings.ReplaceAll(line, "\t", strings.Repeat(" ", 8)))).To(BeNumerically("<=", 80), line)
		}
		if strings.HasPrefix(line, "|") {
			tables++
			g.Expect(strings.Count(line, "|")-1).To(BeNumerically("<=", 4), line)
		}
	}
	g.Expect(code).To(BeNumerically(">", 20))
	g.Expect(tables).To(BeNumerically(">", 10))
}

// TestTheREADMEShowsTheProjectFirst: a picture and the Stack of a program from git come before all sections.
func TestTheREADMEShowsTheProjectFirst(t *testing.T) {
	g := NewWithT(t)
	root, texts := sources(t)
	first, _, found := strings.Cut(texts["README.md"], "\n## ")
	g.Expect(found).To(BeTrue())
	picture := regexp.MustCompile(`!\[[^\]]{20,}\]\((docs/pictures/[\w-]+\.png)\)`).FindStringSubmatch(first)
	g.Expect(picture).NotTo(BeNil(), "a picture, with what is on it for whoever cannot see it")
	g.Expect(filepath.Join(root, picture[1])).To(BeARegularFile())
	g.Expect(first).To(ContainSubstring("\n```ts\n"))
	_, stack, found := strings.Cut(first, "\n```yaml\n")
	g.Expect(found).To(BeTrue())
	stack, _, _ = strings.Cut(stack, "\n```\n")
	g.Expect(stack).To(And(ContainSubstring("kind: Stack"), ContainSubstring("GitRepository")))
	g.Expect(strings.Count(stack, "\n")).To(BeNumerically("<=", 12))
	g.Expect(first).To(ContainSubstring("](#project-status)"), "that it is not released is said at once")
}
