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

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

const (
	// workers is how many runs are reconciled at a time. None waits for the end of a run.
	workers = 4
	// writers is how many more are reconciled whose pass may wait for an admission webhook:
	// one that hangs may block a pass for a minute, and must not block other runs.
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

// Run creates the objects of runs and follows them until ctx is done. Only the leader may
// call it.
func (r *Runner) Run(ctx context.Context) error {
	defer r.markStopped()
	if !r.awaitRights(ctx) {
		return nil
	}
	reconciler, err := r.newController()
	if err != nil {
		return fmt.Errorf("failed to watch the objects of runs: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	var sweeping sync.WaitGroup
	sweeping.Go(func() { r.sweepUntilDone(ctx, sweepAgain()) })
	defer sweeping.Wait()
	defer stop()
	return reconciler.Start(ctx)
}

// markStopped keeps Shutdown from waiting for objects that nobody creates any more.
func (r *Runner) markStopped() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// newController reconciles the runs of the queue, and those whose objects change.
func (r *Runner) newController() (controller.TypedController[key], error) {
	reconciler, err := controller.NewTypedUnmanaged("job", controller.TypedOptions[key]{
		Reconciler:              r,
		MaxConcurrentReconciles: workers + writers,
		ReconciliationTimeout:   requestTimeout,
		NewQueue: func(string, workqueue.TypedRateLimiter[key]) workqueue.TypedRateLimitingInterface[key] {
			return r.queue // which has the runs that were started before
		},
		LogConstructor: func(of *key) logr.Logger {
			log := r.options.Log.WithValues("controller", "job")
			if of != nil {
				log = log.WithValues("namespace", of.namespace, "run", of.id)
			}
			return log
		},
		SkipNameValidation: ptr.To(true), // a test has several Runners
	})
	if err != nil {
		return nil, err
	}
	for _, object := range []client.Object{&batchv1.Job{}, &corev1.Pod{}, &corev1.Secret{}} {
		if err := reconciler.Watch(source.TypedKind(r.options.Cache, object, r.handler())); err != nil {
			return nil, err
		}
	}
	return reconciler, nil
}

// handler queues a run when one of its objects has changed. The delay bounds the passes:
// anyone who can write an object of a run can do so all the time.
func (r *Runner) handler() handler.TypedEventHandler[client.Object, key] {
	type queue = workqueue.TypedRateLimitingInterface[key]
	enqueue := func(changed client.Object, to queue) {
		if id := changed.GetLabels()[RunLabel]; validID(id) {
			to.AddAfter(key{changed.GetNamespace(), id}, lookInterval)
		}
	}
	return handler.TypedFuncs[client.Object, key]{
		CreateFunc: func(_ context.Context, e event.CreateEvent, to queue) { enqueue(e.Object, to) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, to queue) { enqueue(e.ObjectNew, to) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, to queue) { enqueue(e.Object, to) },
	}
}

// Reconcile takes one run a step further. Of the passes that may hang, it admits as many as
// leave workers for the others.
func (r *Runner) Reconcile(ctx context.Context, k key) (reconcile.Result, error) {
	if r.mayHang(k) {
		select {
		case r.writers <- struct{}{}:
			defer func() { <-r.writers }()
		default:
			return reconcile.Result{RequeueAfter: lookInterval}, nil
		}
	}
	again, err := r.reconcile(ctx, k)
	r.recordError(k, err)
	if err != nil || !again {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: lookAgain}, nil
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
	return r.failing[k]
}

// reconcile returns true if the run, or its pod, is still in
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

// recordError records whether a pass over a run has failed, and has the Stack report why
// the run makes no progress.
func (r *Runner) recordError(k key, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failing, k)
		return
	}
	r.failing[k] = true
	if known, ok := r.runs[k.id]; ok && known.result == nil {
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
