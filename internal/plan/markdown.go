// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
)

// Markdown is the plan for an alert or a comment of a pull request, in at most so many
// bytes: first the counts, then a code block in the language diff, in which what deletes
// or replaces a resource comes first. What does not fit is counted. It is "" if not even
// the counts fit.
func Markdown(p Plan, most int) string { return markdown(p, p.summary(), plannedWording(), most) }

func markdown(p Plan, summary string, by wording, most int) string {
	head := "**" + summary + "**\n"
	if len(head) > most {
		return ""
	}
	blocks := slices.Concat(p.changeBlocks(by), p.policyBlocks())
	diff, _ := fenced(blocks, p.More.Total(), most-len(head))
	return head + diff
}

// changeBlocks are the rows of each resource, the most urgent first, and of the outputs.
func (p Plan) changeBlocks(by wording) [][]row {
	blocks := make([][]row, 0, len(p.Steps)+1)
	for _, step := range inOrder(p.Steps, Step.key, Step.digest) {
		blocks = append(blocks, step.value.rows(by))
	}
	slices.SortStableFunc(blocks, func(a, b []row) int { return cmp.Compare(urgency(a[0].op), urgency(b[0].op)) })
	if outputs := p.outputRows(); len(outputs) > 0 {
		blocks = append(blocks, append([]row{{text: "outputs:"}}, outputs...))
	}
	return blocks
}

func (p Plan) policyBlocks() [][]row {
	var blocks [][]row
	for _, verdict := range p.policyRows() {
		blocks = append(blocks, []row{verdict})
	}
	return blocks
}

// urgency orders operations, by how much they can destroy.
func urgency(op string) int {
	switch op {
	case OpDelete:
		return 0
	case OpReplace:
		return 1
	case OpCreate, OpUpdate, OpImport, OpRetain, OpSame:
		return 3
	}
	return 2
}

func (p Plan) summary() string {
	text := p.CountsText()
	if p.Destroy {
		text = "destroy of the stack: " + text
	}
	return text
}
