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

// Options of a Runner. All but PerNamespace, Namespace, InUse and Recorded
// are required.
type Options struct {
	Settings
	// Client writes.
	Client client.Client
	// Reader reads from the API server itself.
	Reader client.Reader
	// Cache has the objects of runs: see NewCache.
	Cache cache.Cache
	// Namespace is the only one that is looked at. Empty is all.
	Namespace string
	// Concurrent is how many runs may be in flight at a time: at least 1.
	Concurrent int
	// PerNamespace is how many of these may be of one namespace. 0 is no such bound.
	PerNamespace int
	// InUse lists the runs that Stacks know of. Nil keeps what nobody knows of.
	InUse func(ctx context.Context) (map[string]bool, error)
	// Recorded tells what that Stack has recorded of that run. Who may make Secrets and
	// Jobs in a namespace may give them any label, and write anything there: what no Stack
	// has recorded as in flight is nobody's run. Nil believes all that is found.
	Recorded func(ctx context.Context, found run.Ref) (run.Recorded, error)
	// Ended is called, from any goroutine, when a run of the Stack has ended, when
	// something is known of one in flight that must not wait for its end, and when a
	// slot is free that the Stack asked for. It must neither block nor call the
	// Runner.
	Ended func(namespace, name string)
	// Log gets what goes wrong.
	Log logr.Logger
}

// Runner has runs done by Jobs. It implements run.Runner. What it knows is in the
// cluster, so that the next controller knows it too.
type Runner struct {
	options Options
	queue   workqueue.TypedRateLimitingInterface[key]
	load    sync.Once
	// makers has a member for each run whose objects are being made.
	makers chan struct{}
	// reading is held while what a tenant may have written is read that takes much memory.
	reading sync.Mutex

	mu     sync.Mutex
	closed bool
	// tended says that Tend has ended: what is not made then is not made any more.
	tended bool
	slots  *slots.Pool
	runs   map[string]*record
	// rests are the runs that have ended and whose pods may not have.
	rests map[key]*remains
	// forgotten are the runs whose objects the cache may still have.
	forgotten map[key]bool
	// unremoved are those of which the Secret could not be removed yet.
	unremoved map[key]bool
}

// key names a run and where it is.
type key struct{ namespace, id string }

// object is the name of all its objects.
func (k key) object() client.ObjectKey {
	return client.ObjectKey{Namespace: k.namespace, Name: Name(k.id)}
}

// record is what is known of a run.
type record struct {
	key   key
	stack slots.Stack
	// todo is a run whose objects are yet to be made.
	todo   *run.Run
	unmade unmade
	// counted says that the run has one of the slots of this controller.
	counted bool
	overdue overdue
	// progress and unknownCreates are the last that the pod has told.
	progress       run.Progress
	unknownCreates []string
	// cancel is how a person has the run end before its time, and passedOn what of that
	// the pod was told.
	cancel, passedOn exchange.Cancel
	// unbegun says that no pod had begun the run when it was last looked at, and withdrawn
	// that it is to end if none has.
	unbegun, withdrawn bool
	// instead is what was done in place of telling the pod, for a person.
	instead string
	// account is that of the pod, where it is gone, and asked is when that was last asked.
	account string
	asked   time.Time
	// toldAt is when a result was first seen, which may not be the last word.
	toldAt time.Time
	// result is nil while the run is in flight.
	result *run.Result
}

var _ run.Runner = (*Runner)(nil)

// errShutdown is why no run is begun at the end of the controller.
var errShutdown = errors.New("the controller is shutting down")

// New returns a Runner. It does nothing before Tend is called.
func New(options Options) *Runner {
	options.Reader, options.key = paged{options.Reader}, rand.Text()
	return &Runner{
		options: options,
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[key](retryFirst, retryMost)),
		slots:   slots.New(options.Concurrent, options.PerNamespace),
		makers:  make(chan struct{}, makers),
		runs:    make(map[string]*record), rests: make(map[key]*remains), forgotten: make(map[key]bool), unremoved: make(map[key]bool),
	}
}

// Start implements run.Runner. Every error wraps run.ErrRefused: a run is either
// taken on here, or not at all.
func (r *Runner) Start(started run.Run) error {
	r.loadOnce()
	stack := slots.Stack{Namespace: started.Namespace, Name: started.Name}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !validID(started.ID) {
		return fmt.Errorf("%w: %q cannot be the ID of a run", run.ErrRefused, started.ID)
	}
	if known, ok := r.runs[started.ID]; ok {
		if known.result != nil && !r.keeps(stack) {
			r.slots.Release(stack)
			r.options.Ended(stack.Namespace, stack.Name)
			r.offer()
		}
		return nil
	}
	switch {
	case r.closed:
		return fmt.Errorf("%w: %w", run.ErrRefused, errShutdown)
	case r.inFlight(stack):
		return fmt.Errorf("%w: another run of the Stack is in flight", run.ErrRefused)
	case r.keeps(stack):
		return fmt.Errorf("%w: the pod of another run of the Stack has not ended", run.ErrRefused)
	case !r.slots.Taken(stack):
		return fmt.Errorf("%w: no slot is reserved for the Stack", run.ErrRefused)
	}
	r.runs[started.ID] = &record{
		key: key{started.Namespace, started.ID}, stack: stack, todo: &started, counted: true,
		progress: run.Progress{Waiting: "Job " + Name(started.ID) + " is being made"},
	}
	r.queue.Add(key{started.Namespace, started.ID})
	return nil
}

// Look implements run.Runner. The runs of a controller before this one are known by
// their objects.
func (r *Runner) Look(of run.Ref) (run.Phase, *run.Result) {
	r.loadOnce()
	phase, result := r.look(of.ID)
	if phase != run.Unknown || !validID(of.ID) {
		return phase, result
	}
	// Whoever is told that nothing is known of a run may have it recovered from.
	if err := r.seek(of); err != nil {
		r.options.Log.Error(err, "failed to look for a run, which is taken to be in flight", "run", of.ID)
		return run.Running, nil
	}
	return r.look(of.ID)
}

func (r *Runner) look(id string) (run.Phase, *run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	switch {
	case !ok:
		return run.Unknown, nil
	case known.result == nil:
		return run.Running, nil
	}
	result := *known.result
	return run.Ended, &result
}

// Forget implements run.Runner. The Job stays for its logs to be read, if it has
// ended.
func (r *Runner) Forget(id string) error {
	r.mu.Lock()
	known, ok := r.runs[id]
	if !ok {
		r.mu.Unlock()
		return nil
	}
	if known.result == nil {
		r.mu.Unlock()
		return fmt.Errorf("forgetting run %s: it is in flight", id)
	}
	// Also where objects are left, which are removed later: the result is absorbed.
	delete(r.runs, id)
	r.forgotten[known.key] = true
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	if err := r.remove(ctx, known.key); err != nil {
		r.mu.Lock()
		r.unremoved[known.key] = true
		r.mu.Unlock()
		r.queue.AddRateLimited(known.key)
		return fmt.Errorf("forgetting run %s: %w", id, err)
	}
	r.queue.Add(known.key)
	return nil
}

// Shutdown begins no run any more. Those in flight go on, and the next controller
// finds them. It waits for those whose objects are yet to be made: nobody would find
// them. Each of them is tried once, and ends if it cannot be made: what can be neither,
// and what nobody makes any more, is not waited for.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.close()
	ctx, cancel := context.WithTimeoutCause(ctx, closeAllowance, errors.New("the API server does not answer"))
	defer cancel()
	ticker := time.NewTicker(madeInterval)
	defer ticker.Stop()
	for {
		waitFor, unmade := r.making()
		switch {
		case waitFor == 0 && unmade == 0:
			return nil
		case waitFor == 0:
			return fmt.Errorf("the Jobs of %d runs could not be made", unmade)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the Jobs of runs to be made: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

const (
	// madeInterval is how often Shutdown looks.
	madeInterval = 20 * time.Millisecond
	// closeAllowance is how long it looks at most: a try that was begun may take its time,
	// and then a last one, and the end of the run.
	closeAllowance = 3 * requestTimeout
)

// close has what is yet to be made be tried at once.
func (r *Runner) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	for _, known := range r.runs {
		if known.todo != nil && known.result == nil {
			r.queue.Add(known.key)
		}
	}
}

// making counts the runs whose objects are yet to be made, and those whose are not made.
func (r *Runner) making() (yet, not int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.runs {
		switch {
		case known.todo == nil || known.result != nil:
		case r.tended || known.unmade.hopeless:
			not++
		default:
			yet++
		}
	}
	return yet, not
}

// Closed tells whether no run is begun any more.
func (r *Runner) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Count tells how many runs are in flight, or have a pod that has not ended, and how
// many Stacks wait for a slot.
func (r *Runner) Count() (inFlight, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.runs {
		if known.result == nil && known.counted {
			inFlight++
		}
	}
	for _, left := range r.rests {
		if left.counted {
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

// InFlight lists the runs that end with this process: none.
func (r *Runner) InFlight() []run.Ref { return nil }

// AwaitForgotten returns at once: a result that is not absorbed here is by the next
// controller.
func (r *Runner) AwaitForgotten(context.Context) {}

// Progress tells how far a run has come that is in flight.
func (r *Runner) Progress(id string) run.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return known.progress
	}
	return run.Progress{}
}

// UnknownCreates are the creations of unknown outcome of a run that is in flight, as
// far as its pod has told of them.
func (r *Runner) UnknownCreates(id string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok {
		return slices.Clone(known.unknownCreates)
	}
	return nil
}

// Check tells why no pod can do the run, whatever is tried. Nothing is asked of the
// cluster.
func (r *Runner) Check(todo run.Run) error { return check(r.options.Settings, todo) }

// KeepInUse has what no Stack knows of removed when this controller begins. It is to
// be called before Tend.
func (r *Runner) KeepInUse(list func(ctx context.Context) (map[string]bool, error)) {
	r.options.InUse = list
}

// Believe has what is found in the cluster taken for a run only where its Stack says
// that it is one. It is to be called before Tend.
func (r *Runner) Believe(recorded func(ctx context.Context, found run.Ref) (run.Recorded, error)) {
	r.options.Recorded = recorded
}
