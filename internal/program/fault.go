// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is something that is wrong with a Program.
type Fault struct {
	// Path of what is wrong, from the top of the object: program.resources.bucket.
	Path string
	// Line of it in the text that Pulumi reads, where that is known.
	Line int
	// Message says what is wrong with it.
	Message string
}

// String tells the fault in a line.
func (f Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.Path, f.Message)
	}
	return fmt.Sprintf("%s (line %d): %s", f.Path, f.Line, f.Message)
}

// Faults are what is wrong with a Program, in the order of its text.
type Faults struct {
	// First of them.
	First []Fault
	// More there are that are not kept.
	More int
}

// None tells that nothing is wrong.
func (f Faults) None() bool { return len(f.First) == 0 && f.More == 0 }

// With returns the faults of both.
func (f Faults) With(others Faults) Faults {
	return Faults{First: append(slices.Clone(f.First), others.First...), More: f.More + others.More}
}

const (
	// maxFaults bounds the faults that are kept.
	maxFaults = 20
	// maxTold bounds the faults that a message tells.
	maxTold = 5
	// maxMessage bounds the text of a fault, in bytes, and maxPath that of a path.
	maxMessage = 300
	maxPath    = 300
)

// String tells the first faults in one line, and how many more there are.
func (f Faults) String() string {
	var told []string
	for _, fault := range f.First[:min(maxTold, len(f.First))] {
		told = append(told, fault.String())
	}
	if more := f.More + len(f.First) - len(told); more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(told, "; ")
}

// found collects faults of one kind.
type found struct {
	paths *paths
	seen  map[Fault]bool
	all   Faults
}

func newFound(paths *paths) *found { return &found{paths: paths, seen: map[Fault]bool{}} }

// add notes a fault, once.
func (f *found) add(at *place, format string, args ...any) {
	if f.isFull() {
		f.all.More++
		return
	}
	fault := Fault{Path: f.paths.of(at), Message: shortened(fmt.Sprintf(format, args...), maxMessage)}
	if at != nil {
		fault.Line = at.line
	}
	if !f.seen[fault] {
		f.seen[fault] = true
		f.all.First = append(f.all.First, fault)
	}
}

// isFull tells whether no more faults are kept.
func (f *found) isFull() bool { return len(f.all.First) == maxFaults }

// sorted returns the faults in the order of the text.
func (f *found) sorted() Faults {
	slices.SortStableFunc(f.all.First, func(a, b Fault) int { return a.Line - b.Line })
	return f.all
}

// shortened cuts a text that is too long, and has it in one line.
func shortened(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
