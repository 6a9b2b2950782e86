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

// printed is what a stream of the CLI has printed, or its two ends.
type printed struct {
	text string
	// sign is the part of the text that stands for what is left out between the two ends.
	sign struct{ from, to int }
}

// printed is the output, or its two ends cut at whole lines, as a person reads those.
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

// masked is the text without what is secret in it: each end alone, as a secret of many
// lines may be in both, of which neither has all. An end is masked again once it is
// tidy: colours in the midst of a secret hide it from a mask.
func (p printed) masked(m *mask.Masker) string {
	if p.sign.to == 0 {
		return m.Apply(p.text)
	}
	head := m.ApplyCut(tidy(m.ApplyCut(p.text[:p.sign.from])))
	tail := m.ApplyRest(tidy(m.ApplyRest(p.text[p.sign.to:])))
	return head + "\n" + p.text[p.sign.from:p.sign.to] + tail
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
