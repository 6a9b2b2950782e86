// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// DrainOptions are the options of a Drainer. All but Namespace are required.
type DrainOptions struct {
	// Client writes, and Reader reads from the API server, not from a cache.
	Client client.Client
	Reader client.Reader
	// Namespace is the only namespace of Stacks. Empty means all.
	Namespace string
	// InUse lists the runs in the status of all Stacks. Recorded returns what the status of
	// the Stack of a run has.
	InUse    func(ctx context.Context) (map[string]bool, error)
	Recorded func(ctx context.Context, of run.Ref) (run.Recorded, error)
	// Wake has a Stack reconciled. It is called from any goroutine.
	Wake func(namespace, name string)
	// Log receives errors.
	Log logr.Logger
}

// Drainer finishes the runs that an earlier controller has started as Jobs, in a controller
// with another --runner. It withdraws runs that no pod has claimed, and waits for the
// results of the others. It watches nothing: it looks at a run when the Stack is reconciled.
//
// Every installation may read and delete Secrets, but the permission to read Jobs and pods
// may have been removed together with --runner=job. Without it, a result still arrives in
// the Secret, but it is not known whether a pod has died without a result.
type Drainer struct {
	store
	options DrainOptions
	wakes   delayedWakes
	// reading is held while decoding a result, which may take much memory.
	reading sync.Mutex

	mu   sync.Mutex
	runs map[key]*draining
}

// draining is what the Drainer knows about a run.
type draining struct {
	report             exchange.ProgressReport
	cancel, sentCancel exchange.Cancel
	// unproven is why it is not known whether the run is at work, empty if it is.
	unproven string
	// resultSeenAt is when a result was first seen.
	resultSeenAt time.Time
}

// NewDrainer returns a Drainer.
func NewDrainer(options DrainOptions) *Drainer {
	return &Drainer{
		store: store{options.Client, paged{options.Reader}}, options: options,
		wakes: delayedWakes{wake: options.Wake}, runs: make(map[key]*draining),
	}
}

// drainInterval is how often to look at a run in flight.
const drainInterval = 5 * time.Second

// Look implements run.Runs. A run without a Secret and a Job is unknown.
func (d *Drainer) Look(of run.Ref) (run.Phase, *run.Result) {
	if !validID(of.ID) {
		return run.Unknown, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	phase, result, err := d.look(ctx, of)
	if err != nil {
		d.options.Log.Error(err, "failed to look up a run, which is assumed to be in flight", "run", of.ID)
		phase = run.Running
	}
	if phase == run.Running {
		d.wakes.after(of, drainInterval)
	}
	return phase, result
}

func (d *Drainer) look(ctx context.Context, of run.Ref) (run.Phase, *run.Result, error) {
	k := keyOf(of)
	s, err := d.gather(ctx, k)
	if err != nil {
		return "", nil, err
	}
	if s.secret == nil && !s.blind && !s.mayStillRun() {
		d.forget(k)
		return run.Unknown, nil, nil
	}
	known, err := d.note(ctx, of, s)
	if err != nil {
		return "", nil, err
	}
	s.cancelled, s.resultSeenAt = known.cancel != exchange.NotCancelled, known.resultSeenAt
	v := d.judge(s)
	switch {
	case v.ended == nil:
		d.recordReport(k, v, unprovenText(s, v))
		if s.secret == nil && s.blind {
			return run.Unknown, nil, nil // which only a person can clear up
		}
		return run.Running, nil, d.sendCancel(ctx, k)
	case v.unclaimed:
		// Write the result before a pod claims the run, or not at all.
		if err := d.giveUp(ctx, s.secret, v.ended); err != nil {
			return "", nil, err
		}
	}
	ended, why, err := d.endJob(ctx, k, s)
	if err != nil || !ended {
		v.report.Progress.Waiting = why
		d.recordReport(k, v, "")
		return run.Running, nil, err
	}
	return run.Ended, v.ended, nil
}

// gather reads the objects of a run that this controller may read.
func (d *Drainer) gather(ctx context.Context, k key) (seen, error) {
	s, err := gather(ctx, d.reader, k)
	if apierrors.IsForbidden(err) {
		s = seen{blind: true, now: time.Now()}
		s.secret, err = d.freshSecret(ctx, k.object())
	}
	s.fresh, s.withdrawn = true, true
	return s, err
}

func (d *Drainer) judge(s seen) verdict {
	d.reading.Lock() // one result at a time
	defer d.reading.Unlock()
	v := judge(s)
	if v.ended != nil && v.unclaimed && !s.cancelled && v.ended.Outcome == run.Cancelled {
		v.ended.Message = "withdrawn: the controller no longer has --runner=job, and no pod had started the run; Pulumi was not started"
	}
	return v
}

// endJob ends the Job of a run that has ended, if its pod does not end by itself. It
// returns false, and why, while a pod may be at work.
func (d *Drainer) endJob(ctx context.Context, k key, s seen) (ended bool, why string, err error) {
	if s.blind {
		return true, "", nil
	}
	switch stateOfLingering(s, s.resultSeenAt) {
	case podGone:
		return true, "", nil
	case podRunning:
		if s.job != nil && s.job.DeletionTimestamp == nil {
			err = d.removeJob(ctx, k)
		}
	}
	return false, lingeringText(s), err
}

// unprovenText returns why the controller cannot know that the run has ended.
func unprovenText(s seen, v verdict) string {
	switch {
	case !v.unproven:
		return ""
	case s.secret == nil:
		return "its Secret is gone, so no result will arrive, and its pod may still be running: the controller may not read Jobs and pods"
	}
	return "its pod has started it, and the controller waits for the result; it cannot see whether the pod has died, because it may not read Jobs and pods"
}

// note returns a copy of what is known of a run. That a person has cancelled it is in the
// record of its Stack.
func (d *Drainer) note(ctx context.Context, of run.Ref, s seen) (draining, error) {
	k := keyOf(of)
	if _, ok := d.get(k); !ok {
		recorded, err := d.options.Recorded(ctx, of)
		if err != nil {
			return draining{}, err
		}
		found := &draining{}
		if recorded.Cancelled {
			found.cancel = cancelMode(recorded.AtOnce)
		}
		d.mu.Lock()
		d.runs[k] = found
		d.mu.Unlock()
	}
	d.update(k, func(known *draining) {
		if known.resultSeenAt.IsZero() && hasResult(s.secret) {
			known.resultSeenAt = s.now
		}
	})
	known, ok := d.get(k)
	if !ok {
		return draining{}, fmt.Errorf("run %s was forgotten in the meantime", of.ID)
	}
	return known, nil
}

func (d *Drainer) recordReport(k key, v verdict, unproven string) {
	d.update(k, func(known *draining) { known.report, known.unproven = v.report, unproven })
}

// update changes what is known of a run, if anything is.
func (d *Drainer) update(k key, change func(known *draining)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.runs[k]; ok {
		change(known)
	}
}

// get returns a copy of what is known of a run.
func (d *Drainer) get(k key) (copied draining, ok bool) {
	d.update(k, func(known *draining) { copied, ok = *known, true })
	return copied, ok
}

func (d *Drainer) forget(k key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.runs, k)
}

// Report implements run.Runs.
func (d *Drainer) Report(of run.Ref) run.Report {
	known, _ := d.get(keyOf(of))
	return run.Report{
		Progress: known.report.Progress, UnknownCreates: slices.Clone(known.report.UnknownCreates), Found: known.report.Found,
		Unproven: known.unproven,
	}
}

// Cancel implements run.Runs. If the Secret cannot be written now, the next look tries again.
func (d *Drainer) Cancel(of run.Ref, now bool) error {
	d.update(keyOf(of), func(known *draining) {
		if known.cancel != exchange.CancelNow {
			known.cancel = cancelMode(now)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	return d.sendCancel(ctx, keyOf(of))
}

// sendCancel passes the cancellation on to the pod, once.
func (d *Drainer) sendCancel(ctx context.Context, k key) error {
	known, _ := d.get(k)
	if known.cancel == known.sentCancel {
		return nil
	}
	if _, err := d.writeCancel(ctx, k, known.cancel); err != nil {
		return err
	}
	d.update(k, func(still *draining) { still.sentCancel = known.cancel })
	return nil
}

// Forget implements run.Runs. A Job that has ended stays until its TTL has passed, so that
// its log can be read.
func (d *Drainer) Forget(of run.Ref) error {
	if _, ok := d.get(keyOf(of)); !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	if err := d.remove(ctx, keyOf(of)); err != nil {
		return fmt.Errorf("forgetting run %s: %w", of.ID, err)
	}
	d.forget(keyOf(of))
	return nil
}

// Sweep removes the Secrets of runs that no Stack records, until that is done or ctx is.
func (d *Drainer) Sweep(ctx context.Context) error {
	untilDone(ctx, sweepAgain(), d.options.Log, func(ctx context.Context) error {
		return removeUnrecorded(ctx, d.reader, metadataOf(corev1.SchemeGroupVersion, "Secret"), d.options.InUse, d.removeSwept,
			client.InNamespace(d.options.Namespace), client.HasLabels{RunLabel})
	})
	return nil
}

// removeSwept also deletes a Job that has not ended, if the controller may.
func (d *Drainer) removeSwept(ctx context.Context, k key) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := d.remove(ctx, k); err != nil {
		return err
	}
	job := &batchv1.Job{}
	err := d.reader.Get(ctx, k.object(), job)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading Job %s: %w", k.object(), err)
	case condition(job) != nil:
		return nil
	}
	return d.removeJob(ctx, k)
}
