// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"syscall"
	"time"
)

// Done is closed when the process has ended.
func (p *Child) Done() <-chan struct{} { return p.done }

// Ended reports whether the process has ended.
func (p *Child) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Signal signals the process alone, not its group. It does nothing if it has ended.
func (p *Child) Signal(signal syscall.Signal) {
	_ = p.cmd.Process.Signal(signal) // fails only if it has ended
}

// Kill ends the process, and the rest of its group with it. What it started outside of the
// group stays: see EndMarked.
func (p *Child) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// End ends a process that has nothing to finish: it kills it when patience has passed. It
// returns false if the process ended by itself before.
func (p *Child) End(patience time.Duration) bool {
	if p.Ended() {
		return false
	}
	p.Unguard()
	p.Signal(syscall.SIGTERM)
	if !p.EndsWithin(patience, nil) {
		p.Kill()
	}
	return true
}

// EndsBefore waits up to patience until the process has ended or ready returns true, and
// reports whether it has ended.
func (p *Child) EndsBefore(ready func() bool, patience time.Duration) bool {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		if p.Ended() || ready() {
			return p.Ended()
		}
		select {
		case <-p.done:
		case <-timer.C:
			return p.Ended()
		case <-ticker.C:
		}
	}
}

// pollInterval is how often EndsBefore looks.
const pollInterval = 20 * time.Millisecond

// EndsWithin waits for the end, up to patience or until abort is closed. It heeds abort
// only after apartSignals: a second signal right after the first may be taken for the
// same.
func (p *Child) EndsWithin(patience time.Duration, abort <-chan struct{}) bool {
	timer, apart := time.NewTimer(patience), time.NewTimer(apartSignals)
	defer timer.Stop()
	defer apart.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	case <-apart.C:
	}
	select {
	case <-p.done:
		return true
	case <-timer.C:
	case <-abort:
	}
	return p.Ended()
}

// apartSignals is the minimum time between the signals.
const apartSignals = 500 * time.Millisecond
