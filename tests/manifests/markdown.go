// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"fmt"
	"strings"
)

// fence is the line that opened a block.
type fence struct {
	indent, marks string
	yaml          bool
	line          int
}

// FencedBlocks returns the fenced blocks of a Markdown page that are marked as YAML.
func FencedBlocks(name, text string) []Unit {
	var units []Unit
	var open *fence
	var block strings.Builder
	for number, line := range strings.Split(text, "\n") {
		switch {
		case open == nil:
			open = opened(line, number+1)
			block.Reset()
		case closes(*open, line):
			if open.yaml {
				units = append(units, Unit{Name: fmt.Sprintf("%s:%d", name, open.line), Text: block.String()})
			}
			open = nil
		default:
			block.WriteString(strings.TrimPrefix(line, open.indent) + "\n")
		}
	}
	return units
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
		indent: line[:len(line)-len(rest)],
		marks:  marks,
		yaml:   language == "yaml" || language == "yml",
		line:   number,
	}
}

// closes tells whether the line closes the block: it has as many marks at least, and nothing else.
func closes(open fence, line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, open.marks) && strings.Trim(line, "`") == ""
}
