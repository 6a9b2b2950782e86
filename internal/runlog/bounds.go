// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package runlog

import (
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The bounds of a log that is kept. Pulumi reports its errors last, so the end matters.
const (
	maxLines = 1000
	// maxText bounds the texts of all lines together in bytes, and maxLine each of them.
	maxText = 128 << 10
	maxLine = 8 << 10
	// maxCount bounds the number of lines left out, which a tenant may have written.
	maxCount = 10_000_000
)

// Bounded returns the end of a log within the bounds. It may come from a program that
// keeps to none.
func Bounded(log *run.Log) *run.Log {
	if log == nil {
		return nil
	}
	tail := Tail{leftOut: max(0, min(log.LeftOut, maxCount))}
	for _, line := range log.Lines {
		tail.Add(line)
	}
	return tail.Log()
}

// Tail collects the last lines of a log. It is not safe for concurrent use.
type Tail struct {
	lines   []run.LogLine
	size    int
	leftOut int
}

// Add adds a line, and drops as many of the first ones as are too many.
func (t *Tail) Add(line run.LogLine) {
	line.Text = strings.Clone(bounded.Text(line.Text, maxLine))
	t.lines = append(t.lines, line)
	t.size += len(line.Text)
	drop := 0
	for len(t.lines)-drop > maxLines || t.size > maxText {
		t.size -= len(t.lines[drop].Text)
		drop++
	}
	t.lines = slices.Delete(t.lines, 0, drop)
	t.leftOut = min(t.leftOut+drop, maxCount)
}

// Log returns what was collected, nil if that is nothing.
func (t *Tail) Log() *run.Log {
	if len(t.lines) == 0 {
		return nil
	}
	return &run.Log{Lines: slices.Clone(t.lines), LeftOut: t.leftOut}
}
