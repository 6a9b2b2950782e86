// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/mask"
)

const (
	// keptBytes is how much of each end of an output is kept.
	keptBytes = 64 << 10
	// shrinkBytes is how much more may be on the disk before it is freed.
	shrinkBytes = 1 << 20
)

// output is the file that receives a stream of the CLI. A pipe would not do: if the
// controller were killed, the next line printed would end the CLI with SIGPIPE instead
// of letting it finish what it has begun.
type output struct {
	file *os.File
	// freed is the offset up to which the file's middle was freed.
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

// free gives part of a file back to the disk. The file keeps its size, so that its
// writer does not notice. A file system that cannot do this keeps the part until the
// run's directory is removed.
func free(file *os.File, from, to int64) {
	_ = unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

// printed is the output of the CLI on a stream, or its two ends.
type printed struct {
	text string
	// sign is the part of text that marks the gap between the ends.
	sign struct{ from, to int }
}

// printed reads the output, or its two ends cut at whole lines.
func (o *output) printed() printed {
	info, err := o.file.Stat()
	if err != nil {
		return printed{}
	}
	if info.Size() <= 2*keptBytes {
		return printed{text: o.part(0, info.Size())}
	}
	head, tail := o.part(0, keptBytes), o.part(info.Size()-keptBytes, keptBytes)
	head = head[:strings.LastIndexByte(head, '\n')+1]
	_, tail, _ = strings.Cut(tail, "\n")
	sign := fmt.Sprintf("[... %d bytes are left out ...]\n", info.Size()-int64(len(head)+len(tail)))
	p := printed{text: head + sign + tail}
	p.sign.from, p.sign.to = len(head), len(head)+len(sign)
	return p
}

// masked is the text without its secrets. Each end is masked alone, as a multi-line
// secret may be split between them. It is masked again after tidy, because colours
// within a secret hide it from the mask.
func (p printed) masked(m *mask.Masker) string {
	if p.sign.to == 0 {
		return m.Apply(p.text)
	}
	head := m.ApplyCut(tidy(m.ApplyCut(p.text[:p.sign.from])))
	tail := m.ApplyRest(tidy(m.ApplyRest(p.text[p.sign.to:])))
	return head + "\n" + p.text[p.sign.from:p.sign.to] + tail
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
