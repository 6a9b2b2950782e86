// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// title and command begin the lines that are highlighted.
	title   = "== "
	command = "  $ "

	// rows and columns are those of the terminal, with cells of this size in pixels.
	rows, columns     = 26, 112
	cellWidth, height = 8, 18
	margin            = 12

	// longest bounds the pauses of the program, reading is for each line, breath comes
	// before a new step, and hold is the time for which the end stays.
	longest = 2 * time.Second
	reading = 120 * time.Millisecond
	breath  = 1500 * time.Millisecond
	hold    = 5 * time.Second
)

// line is a line of a terminal, and when it was printed.
type line struct {
	text string
	at   time.Duration
}

// paced returns the lines at times at which a person can read along.
func paced(lines []line) []line {
	made := make([]line, len(lines))
	var at, before time.Duration
	for i, l := range lines {
		if i > 0 {
			at += min(l.at-before, longest) + reading
		}
		if i > 0 && (strings.HasPrefix(l.text, title) || strings.HasPrefix(l.text, command)) {
			at += breath
		}
		made[i], before = line{text: l.text, at: at}, l.at
	}
	return made
}

// render returns a terminal that scrolls, as a picture without scripts. Where nothing moves, because the viewer or the person
// does not want it, it shows the end.
func render(lines []line) string {
	total := lines[len(lines)-1].at + hold
	var frames, texts strings.Builder
	for i, l := range lines {
		if i+1 < len(lines) && lines[i+1].at == l.at {
			continue // the next one is there at the same time
		}
		fmt.Fprintf(&frames, "%.3f%%{transform:translateY(%dpx)}\n", 100*l.at.Seconds()/total.Seconds(), (rows-i-1)*height)
	}
	for i, l := range lines {
		if l.text == "" {
			continue
		}
		fmt.Fprintf(&texts, "<text y=\"%d\"%s>%s</text>\n", i*height+height-4, class(l.text), html.EscapeString(cut(l.text)))
	}
	width, tall := columns*cellWidth+2*margin, rows*height+2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#d4d8de}
.t{font-weight:bold;fill:#7fb3ff}
.c{fill:#8ddb8c}
#all{transform:translateY(%[3]dpx);animation:s %.1[4]fs step-end infinite}
@media (prefers-reduced-motion:reduce){#all{animation:none}}
@keyframes s{
%[5]s}
</style>
<rect width="100%%" height="100%%" rx="8" fill="#16191f"/>
<svg x="%[6]d" y="%[6]d" width="%[7]d" height="%[8]d" overflow="hidden">
<g id="all" xml:space="preserve">
%[9]s</g>
</svg>
</svg>
`, width, tall, (rows-len(lines))*height, total.Seconds(), frames.String(), margin, columns*cellWidth, rows*height, texts.String())
}

func class(text string) string {
	switch {
	case strings.HasPrefix(text, title):
		return ` class="t"`
	case strings.HasPrefix(text, command):
		return ` class="c"`
	}
	return ""
}

// cut ends a line where the terminal does.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= columns {
		return text
	}
	return string([]rune(text)[:columns-1]) + "…"
}
