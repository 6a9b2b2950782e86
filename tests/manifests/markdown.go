// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"strings"
)

// Block is a fenced block of a Markdown page.
type Block struct {
	Unit
	// Language is what the block is marked as, in lower case.
	Language string
	// Before is the text since the block before.
	Before string
}

// fence is the line that opened a block.
type fence struct {
	indent, marks, language string
	line                    int
}

// FencedBlocks returns the fenced blocks of a Markdown page that are marked as YAML.
func FencedBlocks(name, text string) []Unit {
	var units []Unit
	for _, block := range Blocks(name, text) {
		if block.Language == "yaml" || block.Language == "yml" {
			units = append(units, block.Unit)
		}
	}
	return units
}

// Blocks returns all fenced blocks of a Markdown page.
func Blocks(name, text string) []Block {
	var blocks []Block
	var open *fence
	var block, before strings.Builder
	for number, line := range strings.Split(text, "\n") {
		switch {
		case open == nil:
			if open = opened(line, number+1); open == nil {
				before.WriteString(line + "\n")
			}
		case closes(*open, line):
			blocks = append(blocks, Block{
				Unit: Unit{Name: fmt.Sprintf("%s:%d", name, open.line), Text: block.String()}, Language: open.language, Before: before.String(),
			})
			open = nil
			block.Reset()
			before.Reset()
		default:
			block.WriteString(strings.TrimPrefix(line, open.indent) + "\n")
		}
	}
	return blocks
}

// opened returns the fence that the line is, nil for another line.
func opened(line string, number int) *fence {
	rest := strings.TrimLeft(line, " ")
	info := strings.TrimLeft(rest, "`")
	marks := rest[:len(rest)-len(info)]
	if len(marks) < 3 || strings.Contains(info, "`") {
		return nil
	}
	language, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(info)), " ")
	return &fence{
		indent:   line[:len(line)-len(rest)],
		marks:    marks,
		language: language,
		line:     number,
	}
}

// closes tells whether the line closes the block: it has as many marks at least, and nothing else.
func closes(open fence, line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, open.marks) && strings.Trim(line, "`") == ""
}
