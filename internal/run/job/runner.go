// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
	"github.com/flux-pulumi/pulumi-controller/internal/run/slots"
)

// Options of a Runner. All but PerNamespace, Namespace, InUse and Recorded are required,
// Runtime only with RuntimeImages, and NamespaceUID only with DependencyCacheSize.
type Options struct {
	Settings
	// Client writes.
	Client client.Client
	// Reader reads from the API server, not from a cache.
	Reader client.Reader
	// Cache contains the objects of runs: see NewCache.
	Cache cache.Cache
	// Namespace is the only namespace to watch. Empty means all.
	Namespace string
	// Concurrent limits the runs in flight. At least 1.
	Concurrent int
	// PerNamespace limits the runs in flight in one namespace. 0 means no limit.
	PerNamespace int
	// ConcurrentInBackground limits the runs in the background, which do not count as others.
	// At least 1.
	ConcurrentInBackground int
	// InUse lists the runs that Stacks record. When the Runner starts, it deletes the
	// Secrets of all other runs. Nil keeps them.
	InUse func(ctx context.Context) (map[string]bool, error)
	// Recorded returns what the Stack records of a run. Anyone who can create Secrets and
	// Jobs in a namespace can give them any label and content, so a run that no Stack
	// records as in flight is not adopted. Nil adopts every run that is found.
	Recorded func(ctx context.Context, found run.Ref) (run.Recorded, error)
	// Runtime returns the runtime of the program in an artifact, "" if the artifact has none
	// that can be executed. It may be called again after an error, and from any goroutine.
	Runtime func(ctx context.Context, artifact run.Artifact) (string, error)
	// NamespaceUID reads the UID of a namespace.
	NamespaceUID func(ctx context.Context, namespace string) (string, error)
	// Wake is called, from any goroutine, when a run of the Stack has ended, when a run in
	// flight has news that must not wait for its end, and when a slot that the Stack asked
	// for is free. It must neither block nor call the Runner.
	Wake func(namespace, name string)
	// Log receives errors.
	Log logr.Logger
}

// Runner executes runs as Jobs. It implements run.Runner. Its state is in the cluster,
// where the next controller finds it.
type Runner struct {
	store
	run.Slots
	options Options
	// queue has the keys of the runs to reconcile.
	queue workqueue.TypedRateLimitingInterface[key]
	load  sync.Once
	wakes delayedWakes
	// writers holds one element for each pass that may hang, see mayHang.
	writers chan struct{}
	// reading is held while decoding a result. A tenant may have written it, and decoding
	// may take much memory.
	reading sync.Mutex

	mu     sync.Mutex
	closed bool
	// stopped says that Run has returned: nothing is created any more.
	stopped bool
	// missingRights is why no run can be started, as the controller lacks rights.
	missingRights string
	slots         slots.Pools
	runs          map[key]*record
}

var _ run.Runner = (*Runner)(nil)

// errShutdown is why a controller that shuts down starts no run.
var errShutdown = errors.New("the controller is shutting down")

// New returns a Runner, which does nothing before Run is called.
func New(options Options) *Runner {
	options.Reader, options.key = paged{options.Reader}, rand.Text()
	r := &Runner{
		store:   store{options.Client, options.Reader},
		options: options,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[key](retryFirst, retryMost),
			workqueue.TypedRateLimitingQueueConfig[key]{Name: "job"}),
		slots:   slots.NewPools(options.Concurrent, options.ConcurrentInBackground, options.PerNamespace, options.Wake),
		writers: make(chan struct{}, writers),
		runs:    make(map[key]*record),
		wakes:   delayedWakes{wake: options.Wake},
	}
	r.Slots = r.guarded(false)
	return r
}

// Start implements run.Runner. Every error wraps run.ErrRefused: the Runner either
// accepts a run or does nothing.
func (r *Runner) Start(started run.Run) error {
	r.loadOnce()
	stack, pool := slots.Stack{Namespace: started.Namespace, Name: started.Name}, r.poolOf(started.Operation)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !validID(started.ID) {
		return fmt.Errorf("%w: %q cannot be the ID of a run", run.ErrRefused, started.ID)
	}
	switch {
	case r.closed:
		return fmt.Errorf("%w: %w", run.ErrRefused, errShutdown)
	case r.isBusy(stack):
		return fmt.Errorf("%w: another run of the Stack is in flight, or its pod has not ended", run.ErrRefused)
	case !pool.Taken(stack):
		return fmt.Errorf("%w: no slot is reserved for the Stack", run.ErrRefused)
	}
	k := key{started.Namespace, started.ID}
	r.runs[k] = &record{
		stack: stack, pool: pool, slot: slot{held: true}, todo: &started,
		report: exchange.ProgressReport{Progress: run.Progress{Waiting: "Job " + Name(started.ID) + " is being created"}},
	}
	r.queue.Add(k)
	return nil
}

// Look implements run.Runs. It finds the runs of earlier controllers by their objects.
func (r *Runner) Look(of run.Ref) (run.Phase, *run.Result) {
	r.loadOnce()
	phase, result, err := r.look(keyOf(of))
	if phase == run.Unknown && validID(of.ID) {
		// A run that is reported as unknown may be recovered, so ask the API server first.
		if err = r.seek(keyOf(of)); err == nil {
			phase, result, err = r.look(keyOf(of))
		}
	}
	if err != nil {
		r.options.Log.Error(err, "failed to look up a run, which is assumed to be in flight", "run", of.ID)
		r.wakes.after(of, lookRetry) // not every run in flight reports progress
		return run.Running, nil
	}
	return phase, result
}

func (r *Runner) look(k key) (run.Phase, *run.Result, error) {
	r.mu.Lock()
	known, ok := r.runs[k]
	switch {
	case !ok || known.absorbed:
		r.mu.Unlock()
		return run.Unknown, nil, nil
	case known.result == nil:
		r.mu.Unlock()
		return run.Running, nil, nil
	}
	result, lightened := *known.result, known.lightened
	r.mu.Unlock()
	if !lightened {
		return run.Ended, &result, nil
	}
	whole, err := r.complete(k, result)
	return run.Ended, whole, err
}

// Forget implements run.Runs. A Job that has ended stays, so that its log can be read.
func (r *Runner) Forget(of run.Ref) error {
	k := keyOf(of)
	r.mu.Lock()
	known, ok := r.runs[k]
	if !ok || known.absorbed {
		r.mu.Unlock()
		return nil
	}
	if known.result == nil {
		r.mu.Unlock()
		return fmt.Errorf("forgetting run %s: it is in flight", of.ID)
	}
	known.absorb() // even if deleting the objects fails: they are deleted later
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	if err := r.remove(ctx, k); err != nil {
		r.update(k, func(known *record) { known.unremoved, known.failing = true, true })
		r.queue.AddRateLimited(k)
		return fmt.Errorf("forgetting run %s: %w", of.ID, err)
	}
	r.queue.Add(k)
	return nil
}

// Shutdown starts no more runs. Runs in flight continue, and the next controller finds
// them. Shutdown waits for the runs whose objects are still to be created, which no other
// controller would find. It tries each of them once more, and ends a run that cannot be
// created. It does not wait for a run that can be neither created nor ended, or that
// nobody creates any more.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.close()
	ctx, cancel := context.WithTimeoutCause(ctx, closeAllowance, errors.New("the API server does not respond"))
	defer cancel()
	ticker := time.NewTicker(shutdownInterval)
	defer ticker.Stop()
	for {
		waitFor, createRetry := r.countUncreated()
		switch {
		case waitFor == 0 && createRetry == 0:
			return nil
		case waitFor == 0:
			return fmt.Errorf("the Jobs of %d runs could not be created", createRetry)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the Jobs of runs to be created: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

const (
	// shutdownInterval is how often Shutdown checks.
	shutdownInterval = 20 * time.Millisecond
	// closeAllowance bounds Shutdown: a try in progress, one last try, and ending the
	// run.
	closeAllowance = 3 * requestTimeout
)

// close retries at once the runs whose objects are still to be created.
func (r *Runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	for k, known := range r.runs {
		if known.todo != nil {
			r.queue.Add(k)
		}
	}
}

// countUncreated counts the runs whose objects are still to be created, and those that never will
// be.
func (r *Runner) countUncreated() (yet, not int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.runs {
		switch {
		case known.todo == nil:
		case r.stopped || r.missingRights != "" || known.create.hopeless:
			not++
		default:
			yet++
		}
	}
	return yet, not
}

// Closed implements run.Runner.
func (r *Runner) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Count returns how many runs are in flight or have a pod that has not ended, and how
// many Stacks wait for a slot.
func (r *Runner) Count() (inFlight, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.runs {
		if known.slot.held {
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
	for k, known := range r.runs {
		if known.result != nil {
			ended = append(ended, run.Ref{ID: k.id, Namespace: k.namespace, Name: known.stack.Name})
		}
	}
	return ended
}

// InFlight returns the runs that end with this process: none.
func (r *Runner) InFlight() []run.Ref { return nil }

// AwaitForgotten returns at once: if this controller does not absorb a result, the next
// one does.
func (r *Runner) AwaitForgotten(context.Context) {}

// Report implements run.Runs.
func (r *Runner) Report(of run.Ref) run.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[keyOf(of)]
	if !ok || !known.inFlight() {
		return run.Report{}
	}
	report := run.Report{
		Progress: known.report.Progress, UnknownCreates: slices.Clone(known.report.UnknownCreates), Found: known.report.Found,
		Withdrawable: known.unclaimed && !known.withdrawn,
	}
	if known.todo != nil && r.missingRights != "" {
		report.Progress = run.Progress{Waiting: r.missingRights}
	}
	return report
}

// ConfirmFound implements run.Runner. The Secret of the run had it before.
func (r *Runner) ConfirmFound(run.Ref, run.Found) {}

// Check returns why no pod can ever execute the run. It asks nothing of the cluster.
func (r *Runner) Check(todo run.Run) error { return check(r.options.Settings, todo) }
