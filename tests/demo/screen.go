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

// screen is where the demo talks to: a terminal, on which a table is redrawn in
// place, or a pipe or file, which gets a line for each row that has changed.
// Nothing depends on what it shows, so its errors are not looked at: a reader
// that is gone ends the demo by SIGPIPE.
type screen struct {
	out io.Writer
	// width that a line may have on the terminal, 0 where there is none.
	width int

	widths widths
	// shown are the rows of the table as it stands, nil where there is none.
	shown []row
}

// newScreen finds out whether the file is a terminal.
func newScreen(out *os.File) *screen {
	s := &screen{out: out}
	// The widest that there will be, so that the columns stay where they are.
	s.widths = widths{}.fit(row{gitStack, "main@sha1:01234567", "", "Unknown"})
	if size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ); err == nil {
		// Not the last column: a line that ends there leaves the cursor on it.
		s.width = int(size.Col) - 1
		if s.width <= 0 {
			s.width = 79 // a terminal that does not know
		}
	}
	return s
}

// say prints a title, where there is one, and lines.
func (s *screen) say(title string, lines ...string) {
	if title != "" {
		_, _ = fmt.Fprintf(s.out, "\n== %s\n", title)
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(s.out, line)
	}
}

// show shows the rows as they are now.
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

// endTable leaves the table as it is: the next one is another.
func (s *screen) endTable() { s.shown = nil }

// redraw draws the table over the one that is there.
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

// add prints rows under those that are there.
func (s *screen) add(rows []row) {
	if s.shown == nil {
		_, _ = fmt.Fprintln(s.out, s.widths.header())
	}
	for _, row := range rows {
		_, _ = fmt.Fprintln(s.out, s.widths.line(row))
	}
}

// changedRows are the rows that are not among those before.
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
