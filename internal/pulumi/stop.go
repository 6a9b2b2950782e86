// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"syscall"
	"time"
)

// Grace limits how long each step of stopping a run may take. DefaultGrace provides the
// defaults of zero fields.
type Grace struct {
	// Settle is how long the CLI may take until its engine is at work, or to end once
	// its engine is done. A signal at those times ends the CLI at once and leaves the
	// lock behind.
	Settle time.Duration
	// Finish is how long the operations in flight may take after the first signal. The
	// engine begins no others.
	Finish time.Duration
	// Abort is how long the engine may take after the second signal to give up what is
	// in flight, record it as pending, and unlock.
	Abort time.Duration
	// Kill is how long processes left behind by a CLI may take to end.
	Kill time.Duration
}

// DefaultGrace suits cloud operations, which take minutes.
func DefaultGrace() Grace {
	return Grace{Settle: 10 * time.Second, Finish: 5 * time.Minute, Abort: 20 * time.Second, Kill: 2 * time.Second}
}

func (g Grace) withDefaults() Grace {
	defaults := DefaultGrace()
	for _, field := range []struct{ value, byDefault *time.Duration }{
		{&g.Settle, &defaults.Settle}, {&g.Finish, &defaults.Finish},
		{&g.Abort, &defaults.Abort}, {&g.Kill, &defaults.Kill},
	} {
		if *field.value <= 0 {
			*field.value = *field.byDefault
		}
	}
	return g
}

// stop ends a CLI with as little harm as possible and returns when it is gone. It
// returns false if the CLI ended before it was told to.
func (d *Driver) stop(p *child, c command) bool {
	grace, events := d.Grace.withDefaults(), c.events
	if c.atOnce {
		return p.end(grace.Kill)
	}
	if p.settle(grace.Settle, events.working.Load) {
		return false
	}
	events.stopped.Store(true)
	// The guard's signal would be the second one: if the controller died before the
	// CLI, the CLI would give up the operations it is about to finish.
	p.unguard()
	for _, step := range []struct {
		patience time.Duration
		abort    <-chan struct{}
	}{{grace.Finish, c.abort}, {grace.Abort, nil}} {
		// Signal only the CLI: it tells the language host and the providers.
		_ = p.cmd.Process.Signal(syscall.SIGINT) // fails only if it has ended
		if p.endsWithin(step.patience, step.abort) {
			return true
		}
	}
	// The caller ends the leftovers of this, as after any end.
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.done
	return true
}

// end ends a process that has nothing to finish, and the rest of its group with it.
// Anything it started outside the group is a leftover. It returns false if the process
// ended by itself before.
func (p *child) end(patience time.Duration) bool {
	if p.ended() {
		return false
	}
	p.unguard()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	if !p.endsWithin(patience, nil) {
		_ = p.cmd.Process.Kill() // likewise
	}
	<-p.done
	return true
}

// settle waits up to patience until the engine is at work. It returns true if the
// process ended before.
func (p *child) settle(patience time.Duration, working func() bool) bool {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		if p.ended() || working() {
			return p.ended()
		}
		select {
		case <-p.done:
		case <-timer.C:
			return p.ended()
		case <-ticker.C:
		}
	}
}

func (p *child) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// endsWithin waits for the end, up to patience or until abort is closed. It heeds abort
// only after apartSignals: a second signal right after the first may be taken for the
// same.
func (p *child) endsWithin(patience time.Duration, abort <-chan struct{}) bool {
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
	return p.ended()
}

// apartSignals is the minimum time between the signals.
const apartSignals = 500 * time.Millisecond

// Total is how long all steps take at most.
func (g Grace) Total() time.Duration {
	all := g.withDefaults()
	return all.Settle + all.Finish + all.Abort + 2*all.Kill
}
