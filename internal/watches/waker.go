// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

// ConflictRetry is how long to wait after a write conflict: time enough for the cache to
// see the change.
const ConflictRetry = 100 * time.Millisecond

// Waker enqueues Stacks for reasons that are not in the API server: a run has ended, or a
// slot is free. It never blocks. It drops calls from before the controller has started,
// as that reconciles every Stack at startup.
type Waker struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// Wake enqueues the Stack.
func (w *Waker) Wake(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.Add(ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
	}
}

// Start implements source.Source, to get the work queue of the controller.
func (w *Waker) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
	return nil
}
