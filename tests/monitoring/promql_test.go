// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// query is the metrics and labels that a PromQL expression uses.
type query struct {
	// selected are the selected labels by metric.
	selected map[string][]string
	// grouped are the labels to aggregate by.
	grouped []string
}

// parseQuery parses the part of PromQL that the dashboard uses: aggregations with by,
// functions, selectors, ranges, or, unless, and arithmetic.
func parseQuery(expression string) query {
	q := query{selected: map[string][]string{}}
	text := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expression, `""`)
	text = regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\bby\s*\(([^)]*)\)`).ReplaceAllStringFunc(text, func(by string) string {
		_, labels, _ := strings.Cut(strings.TrimSuffix(by, ")"), "(")
		for label := range strings.SplitSeq(labels, ",") {
			q.grouped = append(q.grouped, strings.TrimSpace(label))
		}
		return ""
	})
	for _, found := range regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\}|\()?`).FindAllStringSubmatch(text, -1) {
		name, rest := found[1], found[2]
		if rest == "(" || name == "or" || name == "unless" {
			continue
		}
		q.selected[name] = nil
		for _, label := range regexp.MustCompile(`([a-zA-Z_]+)\s*(=~|!~|!=|=)`).FindAllStringSubmatch(rest, -1) {
			q.selected[name] = append(q.selected[name], label[1])
		}
	}
	return q
}

func (q query) metrics() []string { return slices.Sorted(maps.Keys(q.selected)) }

func TestParseQuery(t *testing.T) {
	g := NewWithT(t)
	q := parseQuery(`histogram_quantile(0.5, sum by (le, a) (rate(x_bucket{b=~"c{}", d!="e"}[$__rate_interval]))) * 3600 or vector(0) or y unless z`)
	g.Expect(q.metrics()).To(Equal([]string{"x_bucket", "y", "z"}))
	g.Expect(q.selected["x_bucket"]).To(Equal([]string{"b", "d"}))
	g.Expect(q.grouped).To(Equal([]string{"le", "a"}))
}
