// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// KeptBytes is how much of each end of an output is kept.
	KeptBytes = 64 << 10
	// FreeBytes is how much more may be on the disk before it is freed.
	FreeBytes = 1 << 20
)

// output is the file that receives a stream of the process, in memory if it has no path. A pipe would
// not do: if this process were killed, the next line printed would end the other with SIGPIPE instead
// of letting it finish what it has started.
type output struct {
	file *os.File
	// freed is the offset up to which the file's middle was freed.
	freed int64
}

func newOutput(path string) (*output, error) {
	file, err := openOutput(path)
	if err != nil {
		return nil, fmt.Errorf("making a file for the output: %w", err)
	}
	return &output{file: file, freed: KeptBytes}, nil
}

func openOutput(path string) (*os.File, error) {
	if path != "" {
		return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o600)
	}
	descriptor, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(descriptor), "output"), nil
}

// shrink frees the middle of the file while it grows.
func (o *output) shrink() {
	info, err := o.file.Stat()
	if err == nil && info.Size()-KeptBytes > o.freed+FreeBytes {
		Free(o.file, o.freed, info.Size()-KeptBytes)
		o.freed = info.Size() - KeptBytes
	}
}

// Free gives part of a file back to the disk. The file keeps its size, so that its
// writer does not notice. A file system that cannot do this keeps the part until the
// run's directory is removed.
func Free(file *os.File, from, to int64) {
	_ = unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// Printed is the output of a process on a stream, or its two ends.
type Printed struct {
	Text string
	// Gap is the part of Text that marks the gap between the ends.
	Gap struct{ From, To int }
}

// printed reads the output, or its two ends cut at whole lines.
func (o *output) printed() Printed {
	info, err := o.file.Stat()
	if err != nil {
		return Printed{}
	}
	if info.Size() <= 2*KeptBytes {
		return Printed{Text: o.part(0, info.Size())}
	}
	head, tail := o.part(0, KeptBytes), o.part(info.Size()-KeptBytes, KeptBytes)
	head = head[:strings.LastIndexByte(head, '\n')+1]
	_, tail, _ = strings.Cut(tail, "\n")
	mark := fmt.Sprintf("[... %d bytes are left out ...]\n", info.Size()-int64(len(head)+len(tail)))
	p := Printed{Text: head + mark + tail}
	p.Gap.From, p.Gap.To = len(head), len(head)+len(mark)
	return p
}

func (o *output) part(from, length int64) string {
	text := make([]byte, length)
	n, err := o.file.ReadAt(text, from)
	if err != nil && err != io.EOF {
		return ""
	}
	return string(text[:n])
}

func (o *output) close() {
	_ = o.file.Close() // what was written is no longer needed
}
