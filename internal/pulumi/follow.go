// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// pollInterval is how often the event log is looked at. It bounds how late a
// line is logged, and how late a wish to stop is passed on.
const pollInterval = 100 * time.Millisecond

// keptEvents is how much of the end of an event log is kept, in bytes.
const keptEvents = 16 << 20

// follower reads the event log of one CLI process while it is written.
type follower struct {
	path   string
	events *events
	say    func(string)
	// tell, where it is set, is told of each progress.
	tell func(run.Progress)
	// tellUnknown, where it is set, is told of the creations of unknown outcome as
	// soon as there is one, and of all of them when there are more.
	tellUnknown func(urns []string)

	file    *os.File
	read    int64
	freed   int64
	failed  bool
	lines   lines
	working atomic.Bool
	// stopped says that the process was told to stop.
	stopped atomic.Bool
	told    run.Progress
	// toldUnknown is how many creations of unknown outcome were told of.
	toldUnknown int
}

// poll reads what is new.
func (f *follower) poll() {
	if f.failed {
		return
	}
	if err := f.readNew(); err != nil {
		// The outcome does not need the events, so the run goes on.
		f.failed, f.events.resources.missed = true, true
		f.say(fmt.Sprintf("the events of Pulumi cannot be read: %v", err))
	}
	if now := f.events.progress(); f.tell != nil && now != f.told {
		f.told = now
		f.tell(now)
	}
	if f.tellUnknown == nil {
		return
	}
	// None is ever taken back, so that their number says whether any is new.
	if unknown := f.events.unknownCreates(f.stopped.Load()); len(unknown) > f.toldUnknown {
		f.toldUnknown = len(unknown)
		slices.Sort(unknown)
		f.tellUnknown(unknown)
	}
}

// readNew reads to the end of the file, which comes into being some time after
// the start of the CLI.
func (f *follower) readNew() error {
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f.file = file
	}
	piece := make([]byte, 64<<10)
	for {
		n, err := f.file.Read(piece)
		f.lines.feed(piece[:n], f.line, func() {
			f.events.resources.missed = true
			f.say("an event of Pulumi is too big to be read")
		})
		f.read += int64(n)
		f.working.Store(f.events.began && !f.events.ended)
		if errors.Is(err, io.EOF) {
			f.shrink()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// shrink frees what was read a while ago: all that a program prints is an event,
// and it may print without end. The end of the log is kept, as a recovery reads
// it again.
func (f *follower) shrink() {
	if old := f.read - keptEvents; old > f.freed+shrinkBytes {
		free(f.file, f.freed, old)
		f.freed = old
	}
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close() // nothing was written to it
	}
}

func (f *follower) line(line []byte) {
	if text := f.events.read(line); text != "" {
		f.say(text)
	}
}
