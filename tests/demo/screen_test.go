// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAPipeGetsTheRowsThatHaveChanged(t *testing.T) {
	g := NewWithT(t)
	out := &bytes.Buffer{}
	s := &screen{out: out}
	a, b, changed := row{"a", "1", "False", "True", "ok"}, row{"b", "1", "False", "True", "ok"}, row{"b", "2", "False", "True", "ok"}

	s.show([]row{a, b})
	s.show([]row{a, b})
	s.show([]row{a, changed})
	s.show([]row{changed})
	g.Expect(names(out)).To(Equal([]string{"NAME\tREVISION", "a   \t1       ", "b   \t1       ", "b   \t2       "}))

	s.endTable()
	out.Reset()
	s.show([]row{changed})
	g.Expect(names(out)).To(Equal([]string{"NAME\tREVISION", "b   \t2       "}), "another table has all its rows")
	g.Expect(out.String()).NotTo(ContainSubstring("\x1b"))
}

// names returns the first two columns of each line.
func names(out *bytes.Buffer) []string {
	var names []string
	for line := range strings.Lines(out.String()) {
		cells := strings.Split(line, "\t")
		names = append(names, strings.Join(cells[:2], "\t"))
	}
	return names
}

func TestATerminalHasTheTableDrawnOver(t *testing.T) {
	g := NewWithT(t)
	out := &bytes.Buffer{}
	s := &screen{out: out, width: 20}
	a, b := row{"a", "1", "False", "True", "ok"}, row{"b", "1", "False", "True", "ok"}

	s.show([]row{a, b})
	g.Expect(out.String()).To(Equal("NAME    REVISION\x1b[K\na       1\x1b[K\nb       1\x1b[K\n\x1b[J"))
	out.Reset()
	s.show([]row{a, b})
	g.Expect(out.String()).To(BeEmpty(), "nothing has changed")
	s.show([]row{a})
	g.Expect(out.String()).To(Equal("\x1b[A\x1b[A\x1b[ANAME    REVISION\x1b[K\na       1\x1b[K\n\x1b[J"))
	s.endTable()
	out.Reset()
	s.show([]row{a})
	g.Expect(out.String()).To(HavePrefix("NAME"), "the last table stays as it is")
}

func TestATableWithoutRowsIsDrawnOnce(t *testing.T) {
	g := NewWithT(t)
	out := &bytes.Buffer{}
	s := &screen{out: out}
	s.show(nil)
	s.show(nil)
	g.Expect(strings.Count(out.String(), "NAME")).To(Equal(1))
}
