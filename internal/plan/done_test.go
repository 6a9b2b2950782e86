// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
)

// done has each kind of step, and some that have failed.
func done() Plan {
	p := everything()
	p.Policies = nil
	p.Steps = append(p.Steps,
		Step{Op: OpCreate, URN: urnOf("k"), Type: "lab:index:Thing", Failed: true, Properties: []Property{{Path: "name", Kind: KindAdd, Change: change("", `"k"`)}}},
		Step{Op: OpDelete, URN: urnOf("e"), Type: "lab:index:Thing", Failed: true},
		Step{Op: OpUpdate, URN: urnOf("l"), Type: "lab:index:Thing", MoreProperties: 3},
		Step{Op: OpReplace, URN: urnOf("m"), Type: "lab:index:Thing"},
	)
	return p
}

func TestWhatWasDoneIsShownAsThat(t *testing.T) {
	golden(t, "done.txt", DoneTerminal(done(), 0, nil))
	golden(t, "done_coloured.txt", DoneTerminal(Plan{Steps: done().Steps[len(done().Steps)-4:]}, 0, func(op, text string) string { return "<" + op + ">" + text + "</>" }))
	golden(t, "done.md", DoneMarkdown(done(), 1<<20))
	g := NewWithT(t)
	g.Expect(DoneText(done())).To(Equal("1 created, 1 imported, 2 updated, 3 replaced, 4 deleted, 1 left in place (retainOnDelete), 1 with changed options, 1 other, 2 failed"))
	g.Expect(DoneText(Plan{MoreOutputs: 1})).To(Equal("only outputs changed"))
	g.Expect(DoneText(Plan{})).To(Equal("no changes"))
	g.Expect(DoneText(Plan{Incomplete: true})).To(Equal("it is not known which resources changed, as events of Pulumi were lost"))
	g.Expect(DoneText(Plan{Steps: []Step{{Op: OpCreate}}, Incomplete: true})).To(Equal("1 created, and maybe more, as events of Pulumi were lost"))
}

func TestWhatWasDoneIsKeptWithoutDigests(t *testing.T) {
	g := NewWithT(t)
	before := done()
	text, err := json.Marshal(done().Within(Limits{Steps: 8, Properties: 2, Outputs: 1, Value: 16}).WithoutDigests())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(MatchRegexp(`[dD]igest"`))
	g.Expect(done()).To(Equal(before), "the plan itself stays as it is")
	kept := done()
	_ = kept.WithoutDigests()
	g.Expect(kept).To(Equal(before))
}

// What only a run can say of a step must not change the digests of plans.
func TestAStepThatHasFailedIsNoPlan(t *testing.T) {
	g := NewWithT(t)
	step := Step{Op: OpCreate, URN: urnOf("a"), Type: "lab:index:Thing"}
	text, err := json.Marshal(step)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring("ailed"))
	failed := step
	failed.Failed = true
	g.Expect(failed.digest()).NotTo(Equal(step.digest()))

	whole, incomplete := Plan{Steps: []Step{step}}, Plan{Steps: []Step{failed}, Incomplete: true}
	text, err = json.Marshal(whole)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring("ncomplete"))
	g.Expect(Plan{Incomplete: true}.IsEmpty()).To(BeFalse())
	g.Expect(incomplete.Untried()).To(Equal(whole))
}
