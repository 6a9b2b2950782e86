// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// proven is the cell of a claim that a test proves, or that there is nothing to prove for.
var proven = Or(MatchRegexp(`\bTest[A-Z]`), HavePrefix("nothing"))

// TestEachClaimNamesItsTests compares the pages with what they claim: no line of a table is without a test. Another test
// finds those that do not exist.
func TestEachClaimNamesItsTests(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	facts, reliability := texts["docs/facts.md"], texts["docs/reliability.md"]
	var reasons []string
	for _, reason := range reasonsOf(texts["README.md"]) {
		reasons = append(reasons, reason.name)
	}
	var proved []string
	for _, row := range rows(section(facts, "## The README\n")) {
		g.Expect(row[len(row)-1]).To(proven, row[0])
		proved = append(proved, row[0])
	}
	g.Expect(proved).To(Equal(reasons))
	for heading, compared := range map[string]string{
		"## The comparison\n":               section(texts["docs/comparison.md"], "## Feature by feature"),
		"## The comparison in Reliability":  section(reliability, "## Comparison"),
		"## The text of Reliability":        "",
		"## Killed, removed and delayed on": "",
		"## Runs as Jobs":                   "",
	} {
		here := section(facts, heading)
		if here == "" {
			here = section(reliability, heading)
		}
		g.Expect(rows(here)).NotTo(BeEmpty(), heading)
		var claims []string
		for _, row := range rows(here) {
			g.Expect(row[len(row)-1]).To(proven, "%s: %s", heading, row[0])
			claims = append(claims, row[0])
		}
		if compared == "" {
			continue
		}
		var all []string
		for _, row := range rows(compared) {
			all = append(all, row[0])
		}
		g.Expect(claims).To(Equal(all), heading)
	}
}

// section returns the text between a heading and the next one.
func section(page, heading string) string {
	_, after, _ := strings.Cut(page, "\n"+heading)
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// rows returns the cells of the rows of all tables, without their heads.
func rows(text string) (found [][]string) {
	separator := regexp.MustCompile(`^\|[-|]+\|$`)
	head := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			head = true
		case separator.MatchString(line):
			head = false
		case !head:
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			found = append(found, cells)
		}
	}
	return found
}

// TestEachFactOfAnotherProjectHasASource looks for a link in each cell, or in the row of that name below the comparison. What a
// project runs, that it is released and the languages of its programs are on its first page.
func TestEachFactOfAnotherProjectHasASource(t *testing.T) {
	g := NewWithT(t)
	_, texts := sources(t)
	page := texts["docs/comparison.md"]
	below := map[string][]string{}
	for _, row := range rows(section(page, "## Where the facts come from")) {
		below[row[0]] = row[1:]
	}
	known := []string{"runs", "released", "languages", "Stacks of the Pulumi operator"}
	compared := rows(section(page, "## Feature by feature"))
	g.Expect(len(compared)).To(BeNumerically(">=", 20))
	names := map[string]bool{}
	for _, row := range compared {
		names[row[0]] = true
		for project, cell := range row[2:] {
			if strings.Contains(cell, "](https://") || slices.Contains(known, row[0]) || cell == "none found" {
				continue
			}
			g.Expect(below).To(HaveKey(row[0]))
			g.Expect(below[row[0]][project]).To(MatchRegexp(`\]\(https://github\.com/\S+/v\d+\.\d+\.\d+/\S+\)`), "%s: %s", row[0], cell)
		}
	}
	for name := range below {
		g.Expect(names).To(HaveKey(name))
	}
}
