// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package steplog is how the log of a run says what the run does to a resource: a line when a step starts, and one when it
// ends. Runs write such lines, and who shows a run in flight reads them. It must not know how Pulumi reports a step, where
// a log is, or who reads it.
package steplog

import (
	"fmt"
	"regexp"
)

// Phase is how far a step is.
type Phase string

// The phases of a step. A preview plans steps, and only starts those that read.
const (
	Started Phase = "started"
	Planned Phase = "planned"
	Done    Phase = "done"
	Failed  Phase = "failed"
)

// Step is what a run does to one resource.
type Step struct {
	// Type and Name are those of the resource.
	Type, Name string
	// Op is an operation of Pulumi, such as create or delete-replaced.
	Op    string
	Phase Phase
}

// Line returns the line of the log.
func (s Step) Line() string { return fmt.Sprintf("%s (%s): %s %s", s.Type, s.Name, s.Op, s.Phase) }

// line is what Line writes. A name may have any character but those that end a line.
var line = regexp.MustCompile(`^([^\s()]+) \(([^\r\n]+)\): ([a-z][a-z-]{0,40}) (started|planned|done|failed)$`)

// Parse reads a line, and returns false if it is about something else.
func Parse(text string) (Step, bool) {
	found := line.FindStringSubmatch(text)
	if found == nil {
		return Step{}, false
	}
	return Step{Type: found[1], Name: found[2], Op: found[3], Phase: Phase(found[4])}, true
}
