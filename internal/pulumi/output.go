// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// keptBytes is how much of each end of an output is kept.
	keptBytes = 64 << 10
	// shrinkBytes is how much more is let on the disk before it is freed.
	shrinkBytes = 1 << 20
)

// output is the file that a stream of the CLI goes to. It is not a pipe to this
// process: a CLI whose controller has been killed would end of SIGPIPE at the
// next line it prints, in place of finishing what it has begun.
type output struct {
	file *os.File
	// freed is where the part begins that still takes space on the disk.
	freed int64
}

func newOutput(path string) (*output, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making a file for what Pulumi prints: %w", err)
	}
	return &output{file: file, freed: keptBytes}, nil
}

// shrink frees the middle of the file while it grows.
func (o *output) shrink() {
	info, err := o.file.Stat()
	if err == nil && info.Size()-keptBytes > o.freed+shrinkBytes {
		free(o.file, o.freed, info.Size()-keptBytes)
		o.freed = info.Size() - keptBytes
	}
}

// free gives a part of a file back to the disk. The file keeps its size, so that
// its writer does not notice. A file system that cannot do it keeps the part,
// until the directory of the run is removed.
func free(file *os.File, from, to int64) {
	_ = unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// text is the output, or its two ends cut at whole lines: half a line could hold
// half a secret, which no mask would find.
func (o *output) text() string {
	info, err := o.file.Stat()
	if err != nil {
		return ""
	}
	if info.Size() <= 2*keptBytes {
		return o.part(0, info.Size())
	}
	head, tail := o.part(0, keptBytes), o.part(info.Size()-keptBytes, keptBytes)
	head = head[:strings.LastIndexByte(head, '\n')+1]
	_, tail, _ = strings.Cut(tail, "\n")
	return fmt.Sprintf("%s[... %d bytes are left out ...]\n%s", head, info.Size()-int64(len(head)+len(tail)), tail)
}

// part reads as much as there is.
func (o *output) part(from, length int64) string {
	text := make([]byte, length)
	n, err := o.file.ReadAt(text, from)
	if err != nil && err != io.EOF {
		return ""
	}
	return string(text[:n])
}

func (o *output) close() {
	_ = o.file.Close() // what was written to it is no longer needed
}
