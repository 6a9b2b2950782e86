// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"syscall"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
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
// returns false if the CLI ended before that.
func (d *Driver) stop(p *process.Child, c command) bool {
	grace, events := d.Grace.withDefaults(), c.events
	if c.atOnce {
		return p.End(grace.Kill)
	}
	if p.EndsBefore(events.working.Load, grace.Settle) {
		return false
	}
	events.stopped.Store(true)
	// The guard's signal would be the second one: if the controller died before the
	// CLI, the CLI would give up the operations it is about to finish.
	p.Unguard()
	for _, step := range []struct {
		patience time.Duration
		abort    <-chan struct{}
	}{{grace.Finish, c.abort}, {grace.Abort, nil}} {
		// Signal only the CLI: it passes the request on to the language host and the providers.
		p.Signal(syscall.SIGINT)
		if p.EndsWithin(step.patience, step.abort) {
			return true
		}
	}
	// The caller ends the leftovers of this, as after any end.
	p.Kill()
	return true
}

// Total is how long all steps take at most.
func (g Grace) Total() time.Duration {
	all := g.withDefaults()
	return all.Settle + all.Finish + all.Abort + 2*all.Kill
}
