// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// fenceRoom is what a code block takes beside its lines, in bytes: the fences and the count of
// what is left out. maxFence bounds a fence, in characters, so that both fit.
const (
	fenceRoom = 100
	maxFence  = 20
)

// fenced is a code block with as many of the blocks as fit, and whether that is not all of them.
//
// No line is of backticks alone, so that none can end the block, whatever it says. The longer
// fence is for those who read less strictly. It is bounded, because a program could otherwise
// keep its changes out of the diff with a long name of backticks.
func fenced(blocks [][]row, more, most int) (text string, isCut bool) {
	var lines strings.Builder
	left := more
	for n, block := range blocks {
		text := diffOf(block)
		if lines.Len()+len(text)+fenceRoom > most {
			isCut = true
			// The properties of a resource may be too much, and the resource not.
			text = diffOf([]row{block[0], {depth: 1, text: "... " + plural.Of(len(block)-1, "line", "lines") + " left out"}})
			if block[0].op == "" || len(block) == 1 || lines.Len()+len(text)+fenceRoom > most {
				left += len(blocks) - n
				break
			}
		}
		lines.WriteString(text)
	}
	if left > 0 {
		_, _ = fmt.Fprintf(&lines, "  ... %d more\n", left)
	}
	fence := fenceFor(lines.String(), maxFence)
	text = "\n" + fence + "diff\n" + lines.String() + fence + "\n"
	if lines.Len() == 0 || len(text) > most {
		return "", lines.Len() > 0
	}
	return text, isCut
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
		line := withoutComments(row.text)
		if row.depth == 0 {
			line = strings.TrimLeft(line, " ") // no other line without a sign is indented like those to approve a plan
		}
		_, _ = fmt.Fprintf(&text, "%s %s%s\n", sign, strings.Repeat("  ", row.depth), line)
	}
	return text.String()
}

// Quoted is a text from others as a code block of Markdown, in at most so many bytes. As in a diff,
// each line has a sign: nothing in it can end the block, mention a person or be a link.
func Quoted(text string, most int) string {
	var blocks [][]row
	for line := range strings.Lines(bounded.Text(strings.TrimSpace(text), most)) {
		line = withoutComments(visible(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
		blocks = append(blocks, []row{{op: OpUpdate, text: bounded.Text(line, most-fenceRoom-10)}})
	}
	quoted, _ := fenced(blocks, 0, most)
	return strings.Trim(quoted, "\n")
}

// Code is a text from others as code within a line of Markdown. The text is cut to so many bytes.
func Code(text string, most int) string {
	text = withoutComments(visible(bounded.Line(text, most)))
	fence := strings.Repeat("`", longestRun(text)+1)
	if text == "" || len(fence) > 1 {
		text = " " + text + " " // which are not shown, and keep a backtick from the fence
	}
	return fence + text + fence
}

// fenceFor is a fence that the text does not contain, unless it would be longer than most.
func fenceFor(text string, most int) string {
	return strings.Repeat("`", min(max(3, longestRun(text)+1), most))
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, c := range []byte(text) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// withoutComments escapes comments of HTML: notification-controller finds the comment to edit by
// one, and would take the comment of another Stack for it.
func withoutComments(text string) string { return strings.ReplaceAll(text, "<!--", `<!\x2d-`) }
