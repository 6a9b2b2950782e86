// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/program"
)

const (
	// maxFaults bounds the faults that are kept.
	maxFaults = 20
	// maxMessage bounds the message of a fault, maxPath its path, in bytes.
	maxMessage = 300
	maxPath    = 300
)

// findings collects faults of one kind.
type findings struct {
	paths *paths
	seen  map[program.Fault]bool
	all   program.Faults
}

func newFindings(paths *paths) *findings {
	return &findings{paths: paths, seen: map[program.Fault]bool{}}
}

// add adds a fault unless it is known already.
func (f *findings) add(at *position, format string, args ...any) {
	if f.isFull() {
		f.all.More++
		return
	}
	fault := program.Fault{Path: f.paths.of(at), Message: bounded.Line(fmt.Sprintf(format, args...), maxMessage)}
	if at != nil {
		fault.Line = at.line
	}
	if !f.seen[fault] {
		f.seen[fault] = true
		f.all.First = append(f.all.First, fault)
	}
}

// isFull reports whether maxFaults is reached.
func (f *findings) isFull() bool { return len(f.all.First) == maxFaults }

// sorted returns the faults in the order of the text.
func (f *findings) sorted() program.Faults {
	slices.SortStableFunc(f.all.First, func(a, b program.Fault) int { return a.Line - b.Line })
	return f.all
}
