// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/programerror"
)

// maxPrinted bounds the printed lines that are kept, in bytes.
const maxPrinted = 32 << 10

// printedLines are the last lines that a program and the tools of its language printed: a
// compiler, or a language whose program crashes, says there what is wrong. A crash may
// print the stacks of thousands of threads, and says first what happened.
type printedLines struct {
	lines []string
	bytes int
	// crashed is set if a crash begins within the lines: what follows it is dropped
	// rather than its beginning.
	crashed bool
	// lacksBegin and lacksEnd say that lines were dropped there.
	lacksBegin, lacksEnd bool
}

func (p *printedLines) add(text string) {
	text = strings.TrimRight(newRawText(text).raw, "\n")
	if programerror.IsCrash(text) {
		p.crashed, p.lacksEnd = true, false
		p.dropBeyond(maxPrinted / 2)
	}
	if p.crashed && p.bytes+len(text) > maxPrinted {
		p.lacksEnd = true
		return
	}
	p.lines, p.bytes = append(p.lines, text), p.bytes+len(text)+1
	p.dropBeyond(maxPrinted)
}

// dropBeyond drops the first lines until the rest fits.
func (p *printedLines) dropBeyond(most int) {
	for p.bytes > most && len(p.lines) > 0 {
		p.bytes -= len(p.lines[0]) + 1
		p.lines, p.lacksBegin = p.lines[1:], true
	}
}

// masked is the text without its secrets, which may span lines.
func (p *printedLines) masked(m *mask.Masker) string {
	text := strings.Join(p.lines, "\n")
	hide := m.Apply
	switch {
	case p.lacksBegin && p.lacksEnd:
		hide = func(text string) string { return m.ApplyCut(m.ApplyRest(text)) }
	case p.lacksBegin:
		hide = m.ApplyRest
	case p.lacksEnd:
		hide = m.ApplyCut
	}
	return hide(tidy(hide(text)))
}
