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
	known := r.get(k)
	return known.todo != nil || known.unclaimed || known.cancel != known.sentCancel || known.failing
}

// reconcile returns true if the run, or its pod, is still in flight.
func (r *Runner) reconcile(ctx context.Context, k key) (bool, error) {
	known := r.get(k)
	if known.todo != nil {
		if known.cancel != exchange.NotCancelled {
			return true, r.cancelUncreated(ctx, k)
		}
		return true, r.createOrGiveUp(ctx, *known.todo)
	}
	s, err := gather(ctx, r.options.Cache, k)
	if err != nil {
		return true, err
	}
	inFlight, err := r.adoptRun(ctx, k, s, false)
	if err != nil {
		return true, err
	}
	if !inFlight {
		again, err := r.reconcileLingering(ctx, k, s)
		err = errors.Join(err, r.removeLeft(ctx, k))
		r.drop(k, s)
		return again, err
	}
	s, v, err := r.judge(ctx, k, s)
	if err != nil {
		return true, err
	}
	if v.ended == nil {
		if why := r.whyNoPod(ctx, s); why != "" {
			v.report.Progress.Waiting = why
		}
		r.recordReport(k, v)
		r.updateSlot(k, s)
		return true, r.sendCancel(ctx, k)
	}
	if !v.unclaimed {
		r.settle(k, r.withFallback(k, v.ended))
		return r.reconcileLingering(ctx, k, s)
	}
	// Write the result before a pod claims the run, or not at all.
	if err := r.giveUp(ctx, s.secret, v.ended); err != nil {
		r.updateSlot(k, s) // it is retried, without keeping others from their runs
		return true, err
	}
	if !endsByItself(s) {
		if err := r.removeJob(ctx, k); err != nil {
			return true, err
		}
	}
	r.settle(k, v.ended)
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
	s = r.withRecord(k, s)
	v := judge(s)
	if !v.freshen {
		return s, v, nil
	}
	fresh, err := gatherFresh(ctx, r.options.Reader, k)
	if err != nil {
		return s, v, err
	}
	fresh = r.withRecord(k, fresh)
	r.reading.Lock() // one result at a time
	defer r.reading.Unlock()
	return fresh, judge(fresh), nil
}

// withRecord adds what the Runner knows of the run, and notes when it first saw a result.
func (r *Runner) withRecord(k key, s seen) seen {
	r.update(k, func(known *record) {
		if known.resultSeenAt.IsZero() && hasResult(s.secret) {
			known.resultSeenAt = s.now
		}
		s.cancelled, s.withdrawn, s.waited = known.cancel != exchange.NotCancelled, known.withdrawn, known.report.Progress.Waiting
		s.resultSeenAt = known.resultSeenAt
	})
	return s
}

// removeLeft deletes the Secret of a forgotten run if that has failed before: it contains
// the outputs of the run.
func (r *Runner) removeLeft(ctx context.Context, k key) error {
	if !r.get(k).unremoved {
		return nil
	}
	if err := r.remove(ctx, k); err != nil {
		return err
	}
	r.update(k, func(known *record) { known.unremoved = false })
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
func (r *Runner) recordReport(k key, v verdict) {
	r.update(k, func(known *record) {
		if !known.inFlight() {
			return
		}
		last := known.report
		known.report, known.unclaimed = v.report, v.unclaimed
		known.report.Progress.Waiting = joined(known.fallback, v.report.Progress.Waiting)
		if last.Progress.Waiting != known.report.Progress.Waiting || last.Found != known.report.Found || !slices.Equal(last.UnknownCreates, known.report.UnknownCreates) {
			r.wake(known)
		}
	})
}

// recordError records whether a pass over a run has failed, and has the Stack report why
// the run makes no progress.
func (r *Runner) recordError(k key, err error) {
	r.update(k, func(known *record) {
		known.failing = err != nil
		if err != nil && known.inFlight() {
			known.report.Progress.Waiting = oneLine(err.Error())
		}
	})
}
