// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

const (
	// workers reconcile that many runs at a time. No worker waits for a run.
	workers = 4
	// writers reconcile, beside the workers, that many runs whose pass may wait for an
	// admission webhook: one that hangs may block a pass for a minute, and must not block
	// other runs.
	writers = 16
	// requestTimeout bounds the requests of one pass over a run.
	requestTimeout = 30 * time.Second
	// retryFirst and retryMost bound the backoff after a failed request.
	retryFirst, retryMost = 500 * time.Millisecond, 30 * time.Second
	// podPatience is how long a Job may have no pod before the controller finds out why.
	podPatience = 10 * time.Second
	// lookInterval is how often, at most, changes of its objects trigger a pass over a
	// run.
	lookInterval = 250 * time.Millisecond
	// lookRetry is when a Stack looks at its run again after the API server could not say
	// how it stands.
	lookRetry = 5 * time.Second
	// lookAgain is when to look at a run in flight that nothing was heard of.
	lookAgain = time.Minute
)

// Run creates the objects of runs and follows them until ctx is done. Only the leader
// may call it.
func (r *Runner) Run(ctx context.Context) error {
	defer r.markStopped()
	if !r.awaitRights(ctx) {
		return nil
	}
	for _, object := range []client.Object{&batchv1.Job{}, &corev1.Pod{}, &corev1.Secret{}} {
		informer, err := r.options.Cache.GetInformer(ctx, object)
		if err != nil {
			return fmt.Errorf("failed to watch the objects of runs: %w", err)
		}
		registration, err := informer.AddEventHandler(r.handler())
		if err != nil {
			return fmt.Errorf("failed to watch the objects of runs: %w", err)
		}
		defer func() { _ = informer.RemoveEventHandler(registration) }() // the process ends
	}
	r.loadOnce()
	var work sync.WaitGroup
	work.Go(func() { r.sweepUntilDone(ctx, sweepAgain()) })
	for range workers {
		work.Go(func() {
			for r.reconcileNext(ctx, &work) {
				continue
			}
		})
	}
	<-ctx.Done()
	r.queue.ShutDown()
	work.Wait()
	return nil
}

// markStopped keeps Shutdown from waiting for objects that nobody creates any more.
func (r *Runner) markStopped() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// handler queues a run when one of its objects has changed.
func (r *Runner) handler() toolscache.ResourceEventHandler {
	enqueue := func(changed any) {
		if last, ok := changed.(toolscache.DeletedFinalStateUnknown); ok {
			changed = last.Obj
		}
		if object, ok := changed.(client.Object); ok && validID(object.GetLabels()[RunLabel]) {
			// The delay bounds the passes: anyone who can write an object of a run can do
			// so all the time.
			r.queue.AddAfter(key{object.GetNamespace(), object.GetLabels()[RunLabel]}, lookInterval)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, DeleteFunc: enqueue, UpdateFunc: func(_, changed any) { enqueue(changed) },
	}
}

// reconcileNext reconciles the next run in the queue. It returns false when the queue is shut
// down. A run whose pass may hang gets a goroutine of its own; until that is done, the
// queue gives the run to nobody else.
func (r *Runner) reconcileNext(ctx context.Context, work *sync.WaitGroup) bool {
	k, shutdown := r.queue.Get()
	switch {
	case shutdown:
		return false
	case !r.mayHang(k):
		r.reconcileOne(ctx, k)
		return true
	}
	select {
	case r.writers <- struct{}{}:
		work.Go(func() {
			defer func() { <-r.writers }()
			r.reconcileOne(ctx, k)
		})
	default:
		r.queue.Done(k)
		r.queue.AddAfter(k, lookInterval)
	}
	return true
}

// mayHang reports whether a pass over the run may wait for an admission webhook: it
// creates the objects of the run, asks why there is no pod, ends a run that no pod has
// claimed or passes on that it is cancelled, or has failed the last time.
func (r *Runner) mayHang(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k.id]; ok && known.key == k && (known.todo != nil || known.unbegun || known.cancel != known.sentCancel) {
		return true
	}
	return r.queue.NumRequeues(k) > 0
}

// reconcileOne reconciles a run that was taken from the queue.
func (r *Runner) reconcileOne(ctx context.Context, k key) {
	defer r.queue.Done(k)
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	again, err := r.reconcile(ctx, k)
	switch {
	case err != nil:
		r.options.Log.Error(err, "failed to reconcile a run, which is retried", "namespace", k.namespace, "run", k.id)
		r.recordError(k.id, err)
		r.queue.AddRateLimited(k)
	default:
		r.queue.Forget(k)
		if again {
			r.queue.AddAfter(k, lookAgain)
		}
	}
}

// reconcile takes one run a step further. It returns true if the run, or its pod, is still in
// flight.
func (r *Runner) reconcile(ctx context.Context, k key) (bool, error) {
	if todo := r.todoOf(k); todo != nil {
		if r.cancelOf(k.id) != exchange.NotCancelled {
			return true, r.cancelUncreated(ctx, k)
		}
		return true, r.createOrGiveUp(ctx, *todo)
	}
	s, err := gather(ctx, r.options.Cache, k)
	if err != nil {
		return true, err
	}
	known, err := r.adoptRun(ctx, k, s, false)
	if err != nil {
		return true, err
	}
	if !known {
		again, err := r.reconcileLingering(ctx, k, s)
		return again, errors.Join(err, r.removeLeft(ctx, k))
	}
	cancel := r.cancelOf(k.id)
	s, v, err := r.judge(ctx, k, s)
	if err != nil {
		return true, err
	}
	if v.ended == nil {
		if why := r.whyNoPod(ctx, s); why != "" {
			v.report.Progress.Waiting = why
		}
		r.recordReport(k.id, v)
		r.lapseOverdue(k, s)
		return true, r.sendCancel(ctx, k, cancel)
	}
	if !v.unclaimed {
		r.settle(k.id, r.withFallback(k.id, v.ended))
		return r.reconcileLingering(ctx, k, s)
	}
	// Write the result before a pod claims the run, or not at all.
	if err := r.giveUp(ctx, s.secret, v.ended); err != nil {
		r.lapseOverdue(k, s) // it is tried on, without keeping others from their runs
		return true, err
	}
	if !endsByItself(s) {
		if err := r.removeJob(ctx, k); err != nil {
			return true, err
		}
	}
	r.settle(k.id, v.ended)
	return r.reconcileLingeringAgain(ctx, k)
}

// endsByItself reports whether the pod of a Job has ended by itself. Such a Job creates
// no other pod, and stays so that its log can be read. A Job whose pod was deleted
// because the Job was suspended creates another one.
func endsByItself(s seen) bool {
	return s.job != nil && !isSuspended(s.job) && len(s.pods) > 0 && !slices.ContainsFunc(s.pods, func(pod corev1.Pod) bool {
		return isAlive(pod) || pod.DeletionTimestamp != nil
	})
}

// judge decides where a known run stands. It reads from the API server if the cache is no
// proof.
func (r *Runner) judge(ctx context.Context, k key, s seen) (seen, verdict, error) {
	s.cancelled, s.waited = r.cancelOf(k.id) != exchange.NotCancelled, r.Report(k.ref()).Progress.Waiting
	s.withdrawn = r.isWithdrawn(k.id)
	s.account, s.resultSeenAt = r.accountOf(ctx, k, s), r.resultSeenAt(k.id, s)
	v := judge(s)
	if !v.freshen {
		return s, v, nil
	}
	fresh, err := gather(ctx, r.options.Reader, k)
	if err != nil {
		return s, v, err
	}
	fresh.fresh, fresh.cancelled, fresh.withdrawn, fresh.waited = true, s.cancelled, s.withdrawn, s.waited
	fresh.resultSeenAt = r.resultSeenAt(k.id, fresh)
	if !hasResult(fresh.secret) {
		fresh.account = r.goneAccount(ctx, fresh.pods)
	}
	r.reading.Lock() // one result at a time
	defer r.reading.Unlock()
	return fresh, judge(fresh), nil
}

// resultSeenAt returns when this controller first saw a result of the run.
func (r *Runner) resultSeenAt(id string, s seen) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	if !ok || !hasResult(s.secret) {
		return time.Time{}
	}
	if known.resultSeenAt.IsZero() {
		known.resultSeenAt = s.now
	}
	return known.resultSeenAt
}

// removeLeft deletes the Secret of a forgotten run if that has failed before: it contains
// the outputs of the run.
func (r *Runner) removeLeft(ctx context.Context, k key) error {
	r.mu.Lock()
	unremoved := r.unremoved[k]
	r.mu.Unlock()
	if !unremoved {
		return nil
	}
	if err := r.remove(ctx, k); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unremoved, k)
	return nil
}

// whyNoPod returns what keeps the Job controller from creating the pod, which it reports
// only in events: meanwhile, another pod may have exhausted the quota, or the
// ServiceAccount of the Stack may be gone.
func (r *Runner) whyNoPod(ctx context.Context, s seen) string {
	if s.job == nil || isSuspended(s.job) || slices.ContainsFunc(s.pods, isAlive) || s.secret == nil || s.now.Sub(s.job.CreationTimestamp.Time) < podPatience {
		return ""
	}
	job := &batchv1.Job{}
	if err := r.options.Reader.Get(ctx, client.ObjectKeyFromObject(s.job), job); err != nil {
		return "" // and asked again
	}
	_, err := r.tryPod(ctx, job)
	if err == nil || !isFinal(err) {
		return ""
	}
	return fmt.Sprintf("Job %s waits for its pod: %s", job.Name, oneLine(err.Error()))
}

// recordReport records what a run in flight reports. It wakes the Stack if there are new
// creations of unknown outcome or other findings, or the run waits for something else.
func (r *Runner) recordReport(id string, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.runs[id]
	if !ok || known.result != nil {
		return
	}
	waited := known.progress.Waiting
	known.progress, known.unbegun = v.report.Progress, v.unbegun
	known.progress.Waiting = joined(known.fallback, known.progress.Waiting)
	if waited != known.progress.Waiting || known.found != v.report.Found || !slices.Equal(known.unknownCreates, v.report.UnknownCreates) {
		known.unknownCreates, known.found = v.report.UnknownCreates, v.report.Found
		r.options.Wake(known.stack.Namespace, known.stack.Name)
	}
}

// recordError has the Stack report why a run makes no progress.
func (r *Runner) recordError(id string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[id]; ok && known.result == nil {
		known.progress.Waiting = oneLine(err.Error())
	}
}

// todoOf returns a run whose objects are still to be created.
func (r *Runner) todoOf(k key) *run.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.runs[k.id]; ok && known.key == k {
		return known.todo
	}
	return nil
}
