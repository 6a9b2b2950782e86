// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import "bytes"

// maxLine bounds a line of the event log: one event holds all properties of a resource,
// which may be as big as a file.
const maxLine = 8 << 20

// lines splits a stream into lines as it arrives, in pieces of any size, and keeps no
// more than one line.
type lines struct {
	line    []byte
	skipped bool
}

// feed calls each with every line that is now complete. For a line over maxLine, it
// calls tooLong instead.
func (l *lines) feed(piece []byte, each func(line []byte), tooLong func()) {
	for len(piece) > 0 {
		part, rest, complete := bytes.Cut(piece, []byte("\n"))
		piece = rest
		if !l.skipped && len(l.line)+len(part) > maxLine {
			l.line, l.skipped = nil, true
		}
		if !l.skipped {
			l.line = append(l.line, part...)
		}
		if !complete {
			return
		}
		if l.skipped {
			tooLong()
		} else {
			each(l.line)
		}
		l.line, l.skipped = l.line[:0], false
	}
}
