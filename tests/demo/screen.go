// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// up moves the cursor up a line, clearLine removes the rest of the line, and
	// clearBelow the rest of the screen.
	up         = "\x1b[A"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// screen is the output of the demo: a terminal, on which a table is redrawn in place, or
// a pipe or file, which gets a line for each changed row. Nothing depends on it, so its
// errors are ignored: a missing reader ends the demo by SIGPIPE.
type screen struct {
	out io.Writer
	// width is the maximum width of a line on the terminal, or 0 without one.
	width int

	widths widths
	// shown are the rows of the current table, or nil without one.
	shown []row
}

// newScreen detects whether the file is a terminal.
func newScreen(out *os.File) *screen {
	s := &screen{out: out}
	// The widest that there will be, so that the columns stay where they are.
	s.widths = widths{}.fit(row{gitStack, "main@sha1:01234567", "", "Unknown"})
	if size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ); err == nil {
		// Not the last column: a line that ends there leaves the cursor on it.
		s.width = int(size.Col) - 1
		if s.width <= 0 {
			s.width = 79 // the terminal does not know its size
		}
	}
	return s
}

// say prints a title, if any, and lines.
func (s *screen) say(title string, lines ...string) {
	if title != "" {
		_, _ = fmt.Fprintf(s.out, "\n== %s\n", title)
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(s.out, line)
	}
}

// show shows the current rows.
func (s *screen) show(rows []row) {
	changed := changedRows(s.shown, rows)
	if s.shown != nil && len(changed) == 0 && len(rows) == len(s.shown) {
		return
	}
	s.widths = s.widths.fit(rows...)
	if s.width > 0 {
		s.redraw(rows)
	} else {
		s.add(changed)
	}
	s.shown = append([]row{}, rows...)
}

// endTable leaves the table as it is: the next one is new.
func (s *screen) endTable() { s.shown = nil }

// redraw draws the table over the current one.
func (s *screen) redraw(rows []row) {
	var text strings.Builder
	if s.shown != nil {
		text.WriteString(strings.Repeat(up, len(s.shown)+1))
	}
	text.WriteString(onScreen(s.widths.header(), s.width) + clearLine + "\n")
	for _, row := range rows {
		text.WriteString(onScreen(s.widths.line(row), s.width) + clearLine + "\n")
	}
	_, _ = io.WriteString(s.out, text.String()+clearBelow)
}

// add prints rows below the current ones.
func (s *screen) add(rows []row) {
	if s.shown == nil {
		_, _ = fmt.Fprintln(s.out, s.widths.header())
	}
	for _, row := range rows {
		_, _ = fmt.Fprintln(s.out, s.widths.line(row))
	}
}

// changedRows returns the rows that are new or changed.
func changedRows(before, now []row) []row {
	was := map[row]bool{}
	for _, row := range before {
		was[row] = true
	}
	var changed []row
	for _, row := range now {
		if !was[row] {
			changed = append(changed, row)
		}
	}
	return changed
}
