// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

func doneWording() wording { return wording{Step.done, doneCounts} }

// DoneTerminal is Terminal for what a run has done.
func DoneTerminal(done Plan, width int, paint func(op, text string) string) string {
	return terminal(done, doneWording(), width, paint)
}

// DoneMarkdown is Markdown for what a run has done.
func DoneMarkdown(done Plan, most int) string {
	return markdown(done, DoneText(done), doneWording(), most)
}

// done says what has happened to a resource.
func (s Step) done() string {
	switch {
	case s.Failed:
		return s.Op + " failed"
	case s.Op == OpReplace && s.DeleteFirst:
		return "replaced, the old one was deleted first"
	case s.Op == OpImport && s.ID != "":
		return "imported as " + s.ID
	case s.Op == OpSame:
		return "only options changed"
	}
	if past, known := map[string]string{
		OpCreate: "created", OpUpdate: "updated", OpReplace: "replaced", OpDelete: "deleted", OpImport: "imported",
	}[s.Op]; known {
		return past
	}
	return s.what()
}

// DoneText counts what a run has done.
func DoneText(done Plan) string {
	counts := done.Counts()
	switch {
	case done.Incomplete && counts.Total() == 0:
		return "it is not known which resources changed, as events of Pulumi were lost"
	case done.Incomplete:
		return doneCounts(counts) + ", and maybe more, as events of Pulumi were lost"
	case counts.Total() == 0 && len(done.Outputs)+done.MoreOutputs > 0:
		return "only outputs changed"
	}
	return doneCounts(counts)
}

func doneCounts(c Counts) string {
	return listOf([]counted{
		{c.Create, "created"}, {c.Import, "imported"}, {c.Update, "updated"}, {c.Replace, "replaced"}, {c.Delete, "deleted"},
		{c.Retain, "left in place (retainOnDelete)"}, {c.Options, "with changed options"}, {c.Other, "other"}, {c.Failed, "failed"},
	}, "no changes")
}

// maxDone bounds the Size of what a run has done. Nothing depends on it, so it takes less than a plan.
const maxDone = 4 << 20

// FitDone returns as much of what a run has done as is kept, without digests.
func FitDone(done Plan) Plan {
	done, _, _ = done.WithoutDigests().Fit(func(p Plan) (bool, error) { return p.Size() <= maxDone, nil })
	return done.WithoutDigests()
}

// WithoutDigests leaves out all digests: nobody approves what was done, and they take as much
// room as the values.
func (p Plan) WithoutDigests() Plan {
	p.MoreDigest, p.MoreOutputsDigest = "", ""
	p.Steps, p.Outputs = slices.Clone(p.Steps), slices.Clone(p.Outputs)
	for n := range p.Steps {
		step := &p.Steps[n]
		step.Digest, step.MoreDigest = "", ""
		step.Properties, step.Options = withoutDigests(step.Properties), withoutDigests(step.Options)
	}
	for n := range p.Outputs {
		p.Outputs[n].Digest, p.Outputs[n].Rest = "", ""
	}
	return p
}

func withoutDigests(properties []Property) []Property {
	properties = slices.Clone(properties)
	for n := range properties {
		properties[n].Digest, properties[n].Rest = "", ""
	}
	return properties
}
