// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// pollInterval is how often the event log is looked at. It bounds how late a
// line is logged, and how late a wish to stop is passed on.
const pollInterval = 100 * time.Millisecond

// follower reads the event log of one CLI process while it is written.
type follower struct {
	path   string
	events *events
	say    func(string)

	file    *os.File
	lines   lines
	working atomic.Bool
}

// follow reads until ended is closed, and then what is left.
func (f *follower) follow(ended <-chan struct{}) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for last := false; !last; {
		select {
		case <-ended:
			last = true
		case <-ticker.C:
		}
		if err := f.poll(); err != nil {
			// The outcome does not need the events, so the run goes on.
			f.say(fmt.Sprintf("the events of Pulumi cannot be read: %v", err))
			break
		}
	}
	if f.file != nil {
		_ = f.file.Close() // it was only read
	}
}

// poll reads what is new. The file comes into being some time after the start.
func (f *follower) poll() error {
	if f.file == nil {
		file, err := os.Open(f.path)
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
		f.lines.feed(piece[:n], f.line, func() { f.say("an event of Pulumi is too big to be read") })
		f.working.Store(f.events.began && !f.events.ended)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (f *follower) line(line []byte) {
	if text := f.events.read(line); text != "" {
		f.say(text)
	}
}
