// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Waker puts Stacks into the work queue from outside the API server: a run has
// ended, or a slot for one is free. It never blocks, and what it is told before
// the controller has started is not needed: the start looks at every Stack.
type Waker struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// Wake has the Stack reconciled.
func (w *Waker) Wake(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.Add(ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}})
	}
}

// Start implements source.Source: it is given the queue of the controller.
func (w *Waker) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
	return nil
}
