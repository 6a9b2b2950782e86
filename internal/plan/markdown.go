// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	blocks := make([][]row, 0, len(p.Steps)+1)
	for _, step := range inOrder(p.Steps, Step.key, Step.digest) {
		blocks = append(blocks, step.value.rows(by))
	}
	slices.SortStableFunc(blocks, func(a, b []row) int { return cmp.Compare(urgency(a[0].op), urgency(b[0].op)) })
	if outputs := p.outputRows(); len(outputs) > 0 {
		blocks = append(blocks, append([]row{{text: "outputs:"}}, outputs...))
	}
	for _, verdict := range p.policyRows() {
		blocks = append(blocks, []row{verdict})
	}
	return head + fenced(blocks, p.More.Total(), most-len(head))
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
	counts := p.Counts()
	text := counts.String()
	if counts.Total() == 0 && len(p.Outputs)+p.MoreOutputs > 0 {
		text = "only outputs change"
	}
	if p.Destroy {
		text = "destroy of the stack: " + text
	}
	return text
}

// fenced is a code block with as many of the blocks as fit.
func fenced(blocks [][]row, more, most int) string {
	const room = 100 // for the fences and what is left out
	var lines strings.Builder
	fence := "```"
	left := more
	for n, block := range blocks {
		text := diffOf(block)
		if lines.Len()+len(text)+room > most {
			// The properties of a resource may be too much, and the resource not.
			if text = diffOf(block[:1]); block[0].op == "" || lines.Len()+len(text)+room > most {
				left += len(blocks) - n
				break
			}
		}
		lines.WriteString(text)
		for strings.Contains(text, fence) {
			fence += "`"
		}
	}
	if left > 0 {
		_, _ = fmt.Fprintf(&lines, "  ... %d more\n", left)
	}
	text := "\n" + fence + "diff\n" + lines.String() + fence + "\n"
	if lines.Len() == 0 || len(text) > most {
		return ""
	}
	return text
}

// diffOf are rows as lines of a diff: what is neither added nor removed has the sign ! for
// a change, which is shown in another colour.
func diffOf(rows []row) string {
	var text strings.Builder
	for _, row := range rows {
		sign := " "
		switch row.op {
		case OpCreate, OpImport, KindAdd:
			sign = "+"
		case OpDelete:
			sign = "-"
		case OpUpdate, OpReplace, OpSame:
			sign = "!"
		}
		_, _ = fmt.Fprintf(&text, "%s %s%s\n", sign, strings.Repeat("  ", row.depth), row.text)
	}
	return text.String()
}
