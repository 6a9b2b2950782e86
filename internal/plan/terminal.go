// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// Terminal is the plan for a person at a terminal, with the signs of Pulumi: lines of at
// most width columns, of any length if it is 0. If paint is not nil, it colours a text by
// the operation, or the kind of change, that the text is about.
func Terminal(p Plan, width int, paint func(op, text string) string) string {
	return terminal(p, plannedWording(), width, paint)
}

func terminal(p Plan, by wording, width int, paint func(op, text string) string) string {
	if paint == nil {
		paint = func(_, text string) string { return text }
	}
	var text strings.Builder
	for _, step := range inOrder(p.Steps, Step.key, Step.digest) {
		for _, row := range step.value.rows(by) {
			writeRow(&text, row, width, paint)
		}
	}
	if more := p.More.Total(); more > 0 {
		_, _ = fmt.Fprintf(&text, "... %d more: %s\n", more, by.counts(p.More))
	}
	if outputs := p.outputRows(); len(outputs) > 0 {
		text.WriteString("outputs:\n")
		for _, row := range outputs {
			writeRow(&text, row, width, paint)
		}
	}
	for _, verdict := range p.policyRows() {
		writeRow(&text, verdict, width, paint)
	}
	return text.String()
}

// indent of the text of a row, which the sign of the row precedes.
func (r row) indent() int { return 3 + 4*r.depth }

func writeRow(text *strings.Builder, r row, width int, paint func(op, text string) string) {
	prefix := fmt.Sprintf("%*s ", r.indent()-1, r.sign)
	room := 0
	if width > 0 {
		room = max(20, width-r.indent())
	}
	for n, part := range wrapped(r.text, room) {
		if n > 0 {
			prefix = strings.Repeat(" ", r.indent()+2)
		}
		line := strings.TrimRight(prefix+part, " ")
		text.WriteString(paint(r.op, line) + "\n")
	}
}

// wrapped splits a text into parts of at most so many columns, those after the first of two
// less.
func wrapped(text string, room int) []string {
	if room <= 0 || runewidth.StringWidth(text) <= room {
		return []string{text}
	}
	var parts []string
	for text != "" {
		part := runewidth.Truncate(text, room, "")
		if part == "" {
			return append(parts, text) // a single character is wider
		}
		if len(parts) == 0 {
			room -= 2
		}
		parts, text = append(parts, part), text[len(part):]
	}
	return parts
}

func (p Plan) policyRows() []row {
	var rows []row
	for _, verdict := range p.Policies {
		rows = append(rows, verdict.row())
	}
	if p.MorePolicies > 0 {
		rows = append(rows, row{op: OpDelete, sign: "!", text: "and " + plural.Of(p.MorePolicies, "more violation of policies", "more violations of policies")})
	}
	return rows
}

func (v Policy) row() row {
	text := "policy " + v.Name + " of " + v.Pack + " (" + v.Level + ")"
	if v.URN != "" {
		text += " on " + ResourceName(v.URN)
	}
	return row{op: OpDelete, sign: "!", text: visible(text + ": " + v.Message)}
}
