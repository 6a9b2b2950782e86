// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// lifecycle starts and stops the parts of this process, in the only order in which no run
// and no result can be lost:
//
//  1. Lock the data directory. It proves that no other process has runs in flight there,
//     and the lock is part of what this process records as the holder of its runs.
//  2. Make the parts, which do nothing yet.
//  3. Remove what earlier processes left in the data directory, before it has new runs.
//  4. Start the manager. It waits for its lease before it starts reconciles and runs.
//
// When ctx is done:
//
//  5. Start no more runs, stop those in flight gently and wait for them.
//  6. Wait until reconciles have written their results, as at any other time.
//  7. Stop the manager, which gives the lease back when the last reconcile has ended.
//  8. Write directly what no reconcile has written.
//  9. Send the events that wait, of these writes too.
//  10. Unlock the data directory.
//
// When the manager stops by itself, as it does when it loses its lease, only 5 and 8 to 10
// follow: another process may be the leader, and no reconcile writes any more.
type lifecycle struct {
	data directoryLock
	// assemble makes the parts once the data directory is locked.
	assemble func(ctx context.Context) (*parts, error)
	// shutdown is how long 5 to 8 may take together: the pod is killed some time after.
	shutdown time.Duration
}

// directoryLock is the lock on the data directory.
type directoryLock interface {
	Take() error
	Close()
}

// parts are the parts of the process that start and stop in an order.
type parts struct {
	// sweep removes what earlier processes left.
	sweep   func(ctx context.Context) error
	manager interface {
		// Start returns when ctx is done and everything has ended, or after an error.
		Start(ctx context.Context) error
	}
	runner runner
	stacks interface {
		// WriteAll writes what this process knows of its runs, until ctx is done.
		WriteAll(ctx context.Context, runs []run.Ref) error
	}
	events interface {
		// Close sends the events that wait, until ctx is done.
		Close(ctx context.Context) error
	}
}

// runner is a run.Runner that can be stopped.
type runner interface {
	run.Runner
	// Count returns how many runs are in flight and how many Stacks wait for a slot.
	Count() (inFlight, waiting int)
	// Shutdown starts no more runs, and waits for what would be lost with this process.
	Shutdown(ctx context.Context) error
	// InFlight lists the runs that are lost with this process.
	InFlight() []run.Ref
	// AwaitForgotten waits for the results that are lost with this process to be absorbed.
	AwaitForgotten(ctx context.Context)
}

const (
	// absorbTimeout is how long reconciles may take to write the results of runs that have
	// ended, before the manager stops.
	absorbTimeout = 30 * time.Second
	// managerStop is how long the manager waits for reconciles: the default of
	// controller-runtime.
	managerStop = 30 * time.Second
	// lastWrites is how long the direct writes may take when the time of the shutdown has
	// passed.
	lastWrites = 5 * time.Second
	// lastEvents is how long the events that wait may take to be sent: one attempt.
	// Whether they arrive decides nothing.
	lastEvents = 5 * time.Second
)

func (l lifecycle) run(ctx context.Context) error {
	defer l.data.Close()
	if err := l.data.Take(); errors.Is(err, errInUse) {
		return err
	} else if err != nil {
		ctrl.Log.Error(err, "no run can be started before the data directory can be written")
	}
	p, err := l.assemble(ctx)
	if err != nil {
		return err
	}
	defer p.sendEvents()
	if err := p.sweep(ctx); err != nil {
		return err
	}
	return p.serve(ctx, l.shutdown)
}

// serve runs the manager. The time of the shutdown is counted once, from when ctx is done
// or the manager has stopped.
func (p *parts) serve(ctx context.Context, shutdown time.Duration) error {
	life, end := context.WithCancel(context.Background())
	defer end()
	patience := sync.OnceValues(func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), shutdown)
	})
	stop := context.AfterFunc(ctx, func() {
		defer end()
		patience, _ := patience()
		p.stopRuns(patience)
	})
	defer stop()
	managerErr := p.manager.Start(life)
	left, cancel := patience()
	defer cancel()
	shutdownErr := p.runner.Shutdown(left)
	if left.Err() != nil {
		// What is known is written all the same: that takes no waiting.
		writing, cancel := context.WithTimeout(context.Background(), lastWrites)
		defer cancel()
		left = writing
	}
	return errors.Join(managerErr, shutdownErr, p.stacks.WriteAll(left, append(p.runner.Ended(), p.runner.InFlight()...)))
}

// stopRuns stops the runs while the manager is still there to write their results.
func (p *parts) stopRuns(patience context.Context) {
	if err := p.runner.Shutdown(patience); err != nil {
		ctrl.Log.Error(err, "runs are still in flight, and are left to the next process")
		return
	}
	// A result that cannot be written, because the API server is away, must not keep the
	// lease. It is written directly in what is left of the time, and otherwise stays on
	// disk for the next process.
	absorbing, cancel := context.WithTimeout(patience, absorbTimeout)
	defer cancel()
	p.runner.AwaitForgotten(absorbing)
}

func (p *parts) sendEvents() {
	ctx, cancel := context.WithTimeout(context.Background(), lastEvents)
	defer cancel()
	if err := p.events.Close(ctx); err != nil {
		ctrl.Log.Error(err, "events are not sent")
	}
}
