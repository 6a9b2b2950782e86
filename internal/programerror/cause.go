// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package programerror

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// maxLines bounds the lines of a message: the first say why, and the rest is in the log.
	maxLines = 8
	// maxCallers bounds the callers that a message names.
	maxCallers = 3
)

// cause is why a program failed.
type cause struct {
	// at is the position in the program, as file:line:column, empty if unknown.
	at string
	// text has the lines that say what happened.
	text []string
	// callers are the positions from which that was called, the innermost first.
	callers []string
}

// message writes the position and the cause on the first line: tables show only that.
func (c cause) message() string {
	lines := make([]string, 0, len(c.text))
	for _, line := range c.text {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	lines[0] = strings.TrimSpace(lines[0])
	if c.at != "" {
		lines[0] = c.at + ": " + lines[0]
	}
	if left := len(lines) - maxLines; left > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more lines in the log", left))
	}
	for _, caller := range c.callers[:min(len(c.callers), maxCallers)] {
		lines = append(lines, "    called from "+caller)
	}
	return withAdvice(steady(strings.Join(lines, "\n")))
}

// addFrame adds the position of the next frame of a stack that begins with the innermost.
func (c *cause) addFrame(at string) {
	switch {
	case c.at == "":
		c.at = at
	case c.at != at && !slices.Contains(c.callers, at):
		c.callers = append(c.callers, at)
	}
}

// addOnce adds a line that is not there yet, as tools repeat their errors in a summary.
func (c *cause) addOnce(line string) bool {
	if slices.Contains(c.text, line) {
		return false
	}
	c.text = append(c.text, line)
	return true
}
