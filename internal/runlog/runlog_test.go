// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package runlog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func logOf(lines ...string) *run.Log {
	log := &run.Log{}
	for n, text := range lines {
		log.Lines = append(log.Lines, run.LogLine{At: time.Unix(int64(n), 0).UTC(), Text: text})
	}
	return log
}

func many(count int, text string) []string {
	lines := make([]string, count)
	for n := range lines {
		lines[n] = fmt.Sprintf("%d%s", n, text)
	}
	return lines
}

func TestTheEndOfALogIsKeptWithinBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		log         *run.Log
		first, last string
		count, left int
	}{
		"all of a short one":  {logOf("a", "b"), "a", "b", 2, 0},
		"the last of many":    {logOf(many(maxLines+7, "")...), "7", fmt.Sprint(maxLines + 6), maxLines, 7},
		"the last of large":   {logOf(many(40, strings.Repeat("x", maxLine-2))...), "24", "39", 16, 24},
		"what was left out":   {&run.Log{Lines: logOf("a").Lines, LeftOut: 5}, "a", "a", 1, 5},
		"a made-up number":    {&run.Log{Lines: logOf("a").Lines, LeftOut: -5}, "a", "a", 1, 0},
		"another one":         {&run.Log{Lines: logOf("a").Lines, LeftOut: 1 << 60}, "a", "a", 1, maxCount},
		"a line that is cut":  {logOf("s" + strings.Repeat("x", 1<<20)), "s", "s", 1, 0},
		"empty lines as well": {logOf("", ""), "", "", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bounded := Bounded(tt.log)
			g.Expect(bounded.Lines).To(HaveLen(tt.count))
			g.Expect(bounded.Lines[0].Text).To(HavePrefix(tt.first))
			g.Expect(bounded.Lines[tt.count-1].Text).To(HavePrefix(tt.last))
			g.Expect(bounded.LeftOut).To(Equal(tt.left))
			size := 0
			for _, line := range bounded.Lines {
				g.Expect(len(line.Text)).To(BeNumerically("<=", maxLine))
				size += len(line.Text)
			}
			g.Expect(size).To(BeNumerically("<=", maxText))
			g.Expect(Bounded(bounded)).To(Equal(bounded))
		})
	}
	g := NewWithT(t)
	g.Expect(Bounded(nil)).To(BeNil())
	g.Expect(Bounded(&run.Log{LeftOut: 3})).To(BeNil(), "no lines are no log")
}

func TestALogComesBackFromItsData(t *testing.T) {
	for name, log := range map[string]*run.Log{
		"short":              logOf("created a", "created b"),
		"with marks of JSON": logOf(many(maxLines, `{"a":["b","c"],"d":{}}`)...),
		// Each of these bytes takes six in JSON.
		"as large as it can be": logOf(many(maxLines, strings.Repeat("\x01", maxText/maxLines-4))...),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			data, err := Encode(log)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(Decode(data)).To(Equal(Bounded(log)))
		})
	}
}

func TestForeignDataIsBounded(t *testing.T) {
	g := NewWithT(t)
	data, _, err := bounded.Pack(logOf(many(20*maxLines, "")...))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = Decode(data)
	g.Expect(err).To(MatchError(ContainSubstring("reading the log of the run in the ConfigMap")))
	_, err = Decode([]byte("no archive"))
	g.Expect(err).To(HaveOccurred())
	data, _, err = bounded.Pack(map[string]any{"Lines": []map[string]string{{"At": "0001-01-01T00:00:00Z", "Text": strings.Repeat("x", 3*maxLine)}}})
	g.Expect(err).NotTo(HaveOccurred())
	log, err := Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(log.Lines[0].Text)).To(BeNumerically("<=", maxLine))
}

// Earlier versions began the names with capitals. JSON is read in either case, so that an earlier one reads this one's too.
func TestALogOfAnEarlierVersionIsRead(t *testing.T) {
	g := NewWithT(t)
	data, _, err := bounded.Pack(map[string]any{"Lines": []any{map[string]any{"At": "2026-11-27T09:00:00Z", "Text": "a"}}, "LeftOut": 3})
	g.Expect(err).NotTo(HaveOccurred())
	log, err := Decode(data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log).To(Equal(&run.Log{Lines: []run.LogLine{{At: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC), Text: "a"}}, LeftOut: 3}))
}
