// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	. "github.com/onsi/gomega"
)

func drifted() Plan {
	return Plan{
		Steps: []Step{
			{Op: OpDelete, URN: urnOf("b"), Type: "lab:index:Thing"},
			{Op: OpUpdate, URN: urnOf("a"), Type: "lab:index:Thing", Properties: []Property{
				{Path: "tags.env", Kind: KindUpdate, Change: change(`"prod"`, `"test"`)},
				{Path: "tags.scan", Kind: KindAdd, Change: change("", `"2026-03-02"`)},
				{Path: "token", Kind: KindUpdate, Change: Change{Old: change(`"[secret]"`, "").Old, New: change(`"[secret]"`, "").Old, Secret: true, Digest: "sha256:1"}},
			}},
		},
		More: Counts{Update: 2, Delete: 1},
	}
}

func TestDriftIsShownAsWhatHasHappened(t *testing.T) {
	golden(t, "drift.txt", DriftTerminal(drifted(), 0, nil))
	golden(t, "drift.md", DriftMarkdown(drifted(), 1000))
	g := NewWithT(t)
	g.Expect(DriftText(drifted().Counts())).To(Equal("3 changed, 2 deleted"))
	g.Expect(DriftText(Counts{Create: 1})).To(Equal("1 other"))
	g.Expect(DriftNames(drifted(), 1)).To(Equal("lab:index:Thing a and 4 more"))
	g.Expect(DriftNames(Plan{Steps: drifted().Steps}, 3)).To(Equal("lab:index:Thing a, lab:index:Thing b"))
	g.Expect(DriftMarkdown(Plan{}, 100)).To(Equal("**no drift**\n"))
}
