// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package console tells a person what a command does: lines with Flux's symbols, and
// progress and colours on a terminal. It writes to stderr, so that the output of a
// command can be piped. It must not depend on Kubernetes.
package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
)

// Control sequences that redraw the last line of a terminal, and the frames of the
// spinner.
const (
	clearLine    = "\r\x1b[K"
	spinnerSteps = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
)

// Console writes lines for people.
type Console struct {
	out      io.Writer
	terminal bool
	width    func() int
	drawn    bool
	step     int
}

// New returns a Console that writes to out. Only a terminal gets progress, in lines no
// longer than width, or 80 columns if width is nil.
func New(out io.Writer, terminal bool, width func() int) *Console {
	if width == nil {
		width = func() int { return 80 }
	}
	return &Console{out: out, terminal: terminal, width: width}
}

// Actionf says what the command does.
func (c *Console) Actionf(format string, args ...any) { c.line("►", format, args...) }

// Generatef says what the command creates.
func (c *Console) Generatef(format string, args ...any) { c.line("✚", format, args...) }

// Waitingf says what the command waits for.
func (c *Console) Waitingf(format string, args ...any) { c.line("◎", format, args...) }

// Successf says what has succeeded.
func (c *Console) Successf(format string, args ...any) { c.line("✔", format, args...) }

// Warningf says what a person should know.
func (c *Console) Warningf(format string, args ...any) { c.line("⚠️", format, args...) }

// Failuref says what has failed.
func (c *Console) Failuref(format string, args ...any) { c.line("✗", format, args...) }

func (c *Console) line(symbol, format string, args ...any) {
	c.Done()
	// There is nowhere to report that stderr cannot be written.
	_, _ = fmt.Fprintf(c.out, "%s %s\n", symbol, table.VisibleLines(fmt.Sprintf(format, args...)))
}

// Progress draws what the command waits for, over what it drew before. It does nothing
// without a terminal.
func (c *Console) Progress(text string) {
	if !c.terminal {
		return
	}
	steps := []rune(spinnerSteps)
	line := string(steps[c.step%len(steps)]) + " " + table.Visible(strings.Join(strings.Fields(text), " "))
	c.step++
	_, _ = fmt.Fprint(c.out, clearLine+cut(line, c.width()-1))
	c.drawn = true
}

// Done removes what Progress has drawn.
func (c *Console) Done() {
	if c.drawn {
		_, _ = fmt.Fprint(c.out, clearLine)
		c.drawn = false
	}
}

// cut keeps a line from wrapping, as a wrapped line could not be drawn over. Some
// characters take two columns.
func cut(line string, width int) string {
	if width < 1 {
		return line
	}
	return runewidth.Truncate(line, width, "…")
}
