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
	// Path of the fault from the top of the object, such as program.resources.bucket.
	// Empty if the message says it.
	Path string
	// Line in the text that Pulumi reads, if known.
	Line int
	// Message says what is wrong.
	Message string
}

// String returns the fault in one line.
func (f Fault) String() string {
	switch {
	case f.Path == "":
		return f.Message
	case f.Line == 0:
		return fmt.Sprintf("%s: %s", f.Path, f.Message)
	}
	return fmt.Sprintf("%s (line %d): %s", f.Path, f.Line, f.Message)
}

// Faults are what is wrong with a Program, in the order of the text.
type Faults struct {
	// First are the first of them.
	First []Fault
	// More is the number of faults that are not kept.
	More int
}

// None reports whether there are no faults.
func (f Faults) None() bool { return len(f.First) == 0 && f.More == 0 }

// With returns the faults of both.
func (f Faults) With(others Faults) Faults {
	return Faults{First: append(slices.Clone(f.First), others.First...), More: f.More + others.More}
}

// MaxShown bounds the faults that a message lists.
const MaxShown = 5

// String returns the first faults in one line, and the number of others.
func (f Faults) String() string {
	var shown []string
	for _, fault := range f.First[:min(MaxShown, len(f.First))] {
		shown = append(shown, fault.String())
	}
	if more := f.More + len(f.First) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, "; ")
}
