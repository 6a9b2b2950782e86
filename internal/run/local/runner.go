// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package local executes runs as child processes of this controller, in subdirectories
// of its work directory. It keeps only the queue of Stacks waiting for a slot, and the
// results until they are absorbed: the driver knows what a run does, and the controller
// when one is needed.
package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/inplace"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// Options of a Runner. All but Concurrent, PerNamespace, ConcurrentInBackground and Usable are required.
type Options struct {
	// Dir is the work directory, for the exclusive use of one controller.
	Dir string
	// Usable is called before each run. Its error keeps the run from using the work
	// directory, which has to be this process's own. Nil means no check.
	Usable func() error
	// Concurrent limits the runs in flight: at least 1.
	Concurrent int
	// PerNamespace limits the runs in flight per namespace. 0 means no limit.
	PerNamespace int
	// ConcurrentInBackground limits the runs in the background, which do not count as others:
	// at least 1.
	ConcurrentInBackground int
	// Driver executes the runs.
	Driver inplace.Driver
	// Fetcher fetches artifacts.
	Fetcher inplace.Fetcher
	// Accounts are only needed for runs with a service account.
	Accounts inplace.Accounts
	// Identities are only needed for runs with an identity in a cloud.
	Identities inplace.Identities
	// Wake is called, from any goroutine, when a run of the Stack has ended, when a run in
	// flight has news that must not wait for its end, and when a slot that the Stack asked
	// for is free. It must neither block nor call the Runner.
	Wake func(namespace, name string)
	// NotePatience limits how long a destroy waits for the status to say that everything is
	// deleted. If that passes, it leaves the empty stack for the next one.
	NotePatience time.Duration
	// Log receives the output of Pulumi.
	Log logr.Logger
}

// Runner executes runs in this process. It implements run.Runner.
type Runner struct {
	run.Slots
	options  Options
	executor inplace.Executor
	// life is the parent context of all runs.
	life context.Context
	end  context.CancelCauseFunc
	// work counts the runs in flight.
	work sync.WaitGroup
	// spread prepares the work directory, once.
	spread func()

	mu     sync.Mutex
	closed bool
	slots  slots.Pools
	runs   map[string]*record
}

// record is what is known of a run started here.
type record struct {
	stack slots.Stack
	slots *slots.Pool
	// cancel ends the run gently. abort is closed to keep it from waiting for
	// operations in flight.
	cancel  context.CancelCauseFunc
	abort   chan struct{}
	aborted bool
	// progress is the last reported by the driver.
	progress run.Progress
	// unknownCreates are those reported by the driver so far.
	unknownCreates []string
	// found is what the driver has reported of the stack, and noted is closed when the status
	// has it, nil afterwards.
	found run.Found
	noted chan struct{}
	// result is nil while the run is in flight.
	result *run.Result
}

var _ run.Runner = (*Runner)(nil)

// New returns a Runner. The runs create the work directory: if that fails, they fail
// and say so in their Stacks, and the controller stays up to retry them.
func New(options Options) *Runner {
	life, end := context.WithCancelCause(context.Background())
	r := &Runner{
		options: options, life: life, end: end,
		executor: inplace.Executor{Driver: options.Driver, Fetcher: options.Fetcher, Accounts: options.Accounts, Identities: options.Identities},
		slots:    slots.NewPools(options.Concurrent, options.ConcurrentInBackground, options.PerNamespace, options.Wake),
		runs:     make(map[string]*record),
	}
	r.Slots = r.guarded(false)
	r.spread = sync.OnceFunc(func() { spread(options.Dir) })
	return r
}

// Start implements run.Runner. Every error wraps run.ErrRefused: a run either begins
// here or not at all.
func (r *Runner) Start(started run.Run) error {
	stack, pool := slots.Stack{Namespace: started.Namespace, Name: started.Name}, r.slots.Of(run.KindOf(started.Operation).InBackground)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !validID(started.ID) {
		return fmt.Errorf("%w: %q cannot be the ID of a run", run.ErrRefused, started.ID)
	}
	switch {
	case r.closed:
		return fmt.Errorf("%w: %w", run.ErrRefused, errShutdown)
	case r.inFlight(stack):
		return fmt.Errorf("%w: another run of the Stack is in flight", run.ErrRefused)
	case !pool.Taken(stack):
		return fmt.Errorf("%w: no slot is reserved for the Stack", run.ErrRefused)
	}
	ctx, cancel := context.WithCancelCause(r.life)
	known := &record{stack: stack, slots: pool, cancel: cancel, abort: make(chan struct{})}
	r.runs[started.ID] = known
	started.Abort, started.Reporter = known.abort, reporter{r, started.ID}
	r.work.Add(1)
	go r.do(ctx, started)
	return nil
}

// Look implements run.Runs. It finds a result left by an earlier controller on disk.
func (r *Runner) Look(of run.Ref) (run.Phase, *run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look(of.ID)
}

func (r *Runner) look(id string) (run.Phase, *run.Result) {
	if known, ok := r.runs[id]; ok {
		if known.result == nil {
			return run.Running, nil
		}
		result := *known.result
		return run.Ended, &result
	}
	if !validID(id) {
		return run.Unknown, nil
	}
	result, err := readResult(r.dir(id))
	if err != nil {
		// Treat it as missing: what the run did is in the state of its stack.
		r.options.Log.Error(err, "the result of a run is lost", "run", id)
	}
	if result == nil {
		return run.Unknown, nil
	}
	return run.Ended, result
}

// Forget implements run.Runs.
func (r *Runner) Forget(of run.Ref) error {
	id := of.ID
	r.mu.Lock()
	defer r.mu.Unlock()
	if !validID(id) {
		return nil
	}
	if known, ok := r.runs[id]; ok && known.result == nil {
		return fmt.Errorf("forgetting run %s: it is in flight", id)
	}
	err := r.remove(id)
	// Do this even if files are left, which the next start sweeps: shutdown would wait
	// for a run that stays known.
	delete(r.runs, id)
	if err != nil {
		return fmt.Errorf("forgetting run %s: %w", id, err)
	}
	return nil
}

// remove removes the files of a run. Those of a run that was ended by force are kept
// for its recovery, except for the result.
func (r *Runner) remove(id string) error {
	if _, result := r.look(id); result != nil && result.Interrupted {
		return os.Remove(filepath.Join(r.dir(id), resultFile))
	}
	return pulumi.Directory(r.dir(id)).Remove()
}

// Count returns how many runs are in flight and how many Stacks wait for a slot.
func (r *Runner) Count() (inFlight, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.runs {
		if known.result == nil {
			inFlight++
		}
	}
	return inFlight, r.slots.Waiting()
}

// Ended implements run.Runner.
func (r *Runner) Ended() []run.Ref {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ended []run.Ref
	for id, known := range r.runs {
		if known.result != nil {
			ended = append(ended, run.Ref{ID: id, Namespace: known.stack.Namespace, Name: known.stack.Name})
		}
	}
	return ended
}

// inFlight reports whether the Stack has a run in flight. There are no more records than
// Stacks, as each is forgotten when its result is absorbed.
func (r *Runner) inFlight(stack slots.Stack) bool {
	for _, known := range r.runs {
		if known.stack == stack && known.result == nil {
			return true
		}
	}
	return false
}

func (r *Runner) dir(id string) string { return filepath.Join(r.options.Dir, id) }

// validID reports whether the ID can be a directory name.
func validID(id string) bool {
	return id != "" && id == filepath.Base(id) && filepath.IsLocal(id) && id != "."
}
