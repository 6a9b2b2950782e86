// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/internal/controller"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
)

// serve runs the manager. When ctx is done no new run starts, and the runs in
// flight are told to stop, are waited for and absorbed before the manager ends:
// until then this process keeps its lease, and what happened to each run is
// written as at any other time. When the manager ends by itself, as it does with
// the loss of its lease, that is done without it. The time for all of that is
// gracefulShutdown, counted once: a pod is killed when it has passed.
func serve(ctx context.Context, c config, mgr ctrl.Manager, reconciler *controller.StackReconciler, runner place) error {
	life, end := context.WithCancel(context.Background())
	defer end()
	patience := sync.OnceValues(func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), c.gracefulShutdown)
	})
	stop := context.AfterFunc(ctx, func() {
		defer end()
		patience, _ := patience()
		if err := runner.Shutdown(patience); err != nil {
			ctrl.Log.Error(err, "runs are still in flight, and are left to the next process")
			return
		}
		// A result that cannot be written, as when the API server is away, must not
		// keep the lease. It is tried again without, for what is left of the time,
		// and then stays on disk for the next process.
		absorbing, cancel := context.WithTimeout(patience, absorbTimeout)
		defer cancel()
		runner.AwaitForgotten(absorbing)
	})
	defer stop()
	managerErr := mgr.Start(life)
	left, cancel := patience()
	defer cancel()
	shutdownErr := runner.Shutdown(left)
	if left.Err() != nil {
		// What is known is written all the same: that takes no waiting.
		writing, cancel := context.WithTimeout(context.Background(), lastWrites)
		defer cancel()
		left = writing
	}
	return errors.Join(managerErr, shutdownErr, reconciler.WriteAll(left, append(runner.Ended(), runner.InFlight()...)))
}

// absorbTimeout is how long the results of runs that have ended may take to be
// absorbed before the manager ends.
const absorbTimeout = 30 * time.Second

// lastWrites is how long what is known of the runs may take to be written when the
// time of the shutdown has passed.
const lastWrites = 5 * time.Second

// sendLast sends the events that wait when everything else has ended, those of the
// last results included. Whether they arrive decides nothing, so it is not waited
// for long.
func sendLast(events *notify.Queue) {
	ctx, cancel := context.WithTimeout(context.Background(), lastEvents)
	defer cancel()
	if err := events.Close(ctx); err != nil {
		ctrl.Log.Error(err, "events are not sent")
	}
}

// lastEvents is how long the events that wait at the end may take to be sent: one
// attempt of the recorder.
const lastEvents = 5 * time.Second
