// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/flux-pulumi/pulumi-controller/internal/plural"

// wording is how steps are put into words: as what would be done to resources, or as what was
// done to them outside of Pulumi.
type wording struct {
	step   func(Step) string
	counts func(Counts) string
}

func plannedWording() wording { return wording{Step.what, Counts.String} }

func driftWording() wording { return wording{Step.drifted, DriftText} }

// DriftTerminal is Terminal for what a check for drift has found. The old value of a property
// is the one in the state, and the new value the actual one.
func DriftTerminal(found Plan, width int, paint func(op, text string) string) string {
	return terminal(found, driftWording(), width, paint)
}

// DriftMarkdown is Markdown for what a check for drift has found.
func DriftMarkdown(found Plan, most int) string {
	return markdown(found, DriftText(found.Counts()), driftWording(), most)
}

// DriftNames names the first resources of what a check for drift has found, and counts the
// others.
func DriftNames(found Plan, most int) string {
	var names []string
	steps := inOrder(found.Steps, Step.key, Step.digest)
	for _, step := range steps[:min(len(steps), most)] {
		names = append(names, visible(step.value.Type+" "+ResourceName(step.value.URN)))
	}
	return plural.First(names, found.Counts().Total())
}

// drifted says what has happened to the resource of a step.
func (s Step) drifted() string {
	switch s.Op {
	case OpUpdate:
		return "changed"
	case OpDelete:
		return "deleted"
	}
	return s.Op
}

// DriftText is a list such as "2 changed, 1 deleted", or "no drift".
func DriftText(c Counts) string {
	return listOf([]counted{{c.Update, "changed"}, {c.Delete, "deleted"}, {c.Total() - c.Update - c.Delete, "other"}}, "no drift")
}
