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

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// pollInterval is how often the event log is read. It bounds the delay of a log line
// and of a request to stop.
const pollInterval = 100 * time.Millisecond

// pollSoon is the same while a warning may come upon which the CLI is stopped: as soon as
// the program has started, it may be too late.
const pollSoon = 10 * time.Millisecond

// keptEvents is how much of the end of an event log is kept, in bytes.
const keptEvents = 16 << 20

// follower reads the event log of one CLI process while it is being written.
type follower struct {
	path   string
	events *events
	say    func(string)
	// onProgress, if set, receives each change in progress.
	onProgress func(run.Progress)
	// onUnknownCreates, if set, receives the creations with unknown outcome as soon as there
	// is one, and all of them again when there are more.
	onUnknownCreates func(urns []string)
	// onStart, if set, is called once the engine is at work.
	onStart func()
	// previewsFirst is set until the CLI, which previews first, begins the log of the update. It
	// calls onUpdate then.
	previewsFirst bool
	onUpdate      func()
	// onPreviewed, if set, is called once that preview has ended.
	onPreviewed func()
	// stopCreating, if set, is called once the engine has warned of creations in flight, and
	// stopOther once it has, or may have, started a step that is not approved.
	stopCreating, stopOther func()
	// endPacks, if set, is called if the CLI is asked to stop while it waits for policy packs.
	endPacks func()

	file    *os.File
	read    int64
	freed   int64
	failed  bool
	lines   lines
	working atomic.Bool
	// stopped is set if the process was asked to stop.
	stopped atomic.Bool
	// reported is the last progress that was passed to onProgress.
	reported run.Progress
	// reportedUnknown is how many creations were passed to onUnknownCreates.
	reportedUnknown int
}

// interval is the time until the next poll.
func (f *follower) interval() time.Duration {
	if f.previewsFirst || f.stopOther != nil || f.stopCreating != nil && !f.events.registered && !f.events.reached {
		return pollSoon
	}
	return pollInterval
}

// poll reads what is new.
func (f *follower) poll() {
	if f.failed {
		return
	}
	if err := f.readNew(); err != nil {
		// The outcome does not depend on the events, so the run continues, unless it is watched for
		// steps that are not approved.
		f.failed, f.events.missed = true, true
		f.say(fmt.Sprintf("the events of Pulumi cannot be read: %v", err))
	}
	if f.onPreviewed != nil && f.previewsFirst && f.events.summary != nil {
		f.onPreviewed()
		f.onPreviewed = nil
	}
	now := f.events.progress()
	if f.previewsFirst {
		now = run.Progress{Waiting: now.Waiting} // nothing is done
	}
	if f.onProgress != nil && now != f.reported {
		f.reported = now
		f.onProgress(now)
	}
	if f.onStart != nil && f.events.began {
		f.onStart()
		f.onStart = nil
	}
	if f.stopCreating != nil && len(f.events.leftCreates) > 0 {
		f.stopCreating()
		f.stopCreating = nil
	}
	if f.stopOther != nil && f.events.refusal() != nil {
		f.stopOther()
		f.stopOther = nil
	}
	if f.endPacks != nil && f.stopped.Load() && f.events.policies.loading {
		f.endPacks()
		f.endPacks = nil
	}
	if f.onUnknownCreates == nil || f.previewsFirst {
		return
	}
	// The set only grows, so its size shows whether there are new ones.
	if unknown := f.events.unknownCreates(f.stopped.Load()); len(unknown) > f.reportedUnknown {
		f.reportedUnknown = len(unknown)
		slices.Sort(unknown)
		f.onUnknownCreates(unknown)
	}
}

// readNew reads to the end of the file, which the CLI creates some time after its
// start.
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
	if err := f.restart(); err != nil {
		return err
	}
	piece := make([]byte, 64<<10)
	for {
		n, err := f.file.Read(piece)
		f.lines.feed(piece[:n], f.line, func() {
			f.events.missed = true
			f.say("an event of Pulumi is too big to be read")
		})
		f.events.secrets = f.events.secrets || f.lines.cutSecrets > 0
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

// restart reads the log from its beginning once the CLI has truncated it. It has then written
// less than before: the program has to start again before it can report anything.
func (f *follower) restart() error {
	if !f.previewsFirst {
		return nil
	}
	info, err := f.file.Stat()
	if err != nil || info.Size() >= f.read {
		return err
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	f.previewsFirst, f.read, f.freed, f.lines = false, 0, 0, lines{}
	f.onUpdate()
	return nil
}

// shrink frees what was read a while ago: everything that a program prints is an event,
// and it may print without end. The end of the log is kept for a recovery, which reads
// it again.
func (f *follower) shrink() {
	if old := f.read - keptEvents; old > f.freed+process.FreeBytes {
		process.Free(f.file, f.freed, old)
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
