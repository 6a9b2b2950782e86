// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import "bytes"

const (
	// maxWhole bounds a line of the event log that is kept as it is, in bytes. What is too
	// big is cut out of longer ones: one event holds all properties of a resource, or all
	// outputs of the stack, before and after a step.
	maxWhole = 1 << 20
	// maxLine bounds any line.
	maxLine = 1 << 30
)

// ofEvents is what is kept of a long event. {"resOutputsEvent": {"metadata": {"new":
// {"outputs": {...}}}}} is where the properties are. A property may be several times as long
// as what is shown of an output, as JSON escapes characters.
func ofEvents() reduction {
	return reduction{at: 5, property: 512 << 10, properties: 1 << 20, around: 4 << 20, total: 24 << 20}
}

// lines splits a stream into lines as it arrives, in pieces of any size, and keeps no
// more than one line.
type lines struct {
	line []byte
	// long replaces line once that is too long, and size is the length of both.
	long *reducer
	size int
	// cutSecrets counts the secrets in long lines so far, also in what was cut out of them.
	cutSecrets int
}

// feed calls each with every line that is now complete. For a line over maxLine, it
// calls tooLong instead.
func (l *lines) feed(piece []byte, each func(line []byte), tooLong func()) {
	for len(piece) > 0 {
		part, rest, complete := bytes.Cut(piece, []byte("\n"))
		piece = rest
		l.add(part)
		if !complete {
			return
		}
		switch {
		case l.long == nil:
			each(l.line)
		case l.long.over || l.size > maxLine:
			tooLong()
		default:
			l.cutSecrets += l.long.secrets
			each(l.long.out)
		}
		l.line, l.long, l.size = l.line[:0], nil, 0
	}
}

func (l *lines) add(part []byte) {
	l.size += len(part)
	switch {
	case l.size > maxLine:
		l.long = &reducer{over: true}
	case l.long != nil:
		_, _ = l.long.Write(part) // never fails
	case l.size > maxWhole:
		l.long = newReducer(ofEvents())
		_, _ = l.long.Write(l.line)
		_, _ = l.long.Write(part)
	default:
		l.line = append(l.line, part...)
	}
}
