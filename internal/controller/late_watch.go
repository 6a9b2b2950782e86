// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookAgain is how long a kind that the cluster does not serve is not looked for again.
const lookAgain = 30 * time.Second

// lateWatch starts a watch of a kind when it is needed, or once the cluster serves it. To watch
// a kind from the start would stop a controller that is upgraded before its CRDs, or that lacks
// a permission which it may not need.
type lateWatch struct {
	// reader asks the API server itself, and list is an empty list of the kind.
	reader client.Reader
	list   client.ObjectList
	// start starts the watch.
	start func() error
	now   func() time.Time

	mu       sync.Mutex
	watching bool
	// missing is when the cluster last did not serve the kind.
	missing time.Time
}

// ensure watches the kind from now on, and returns false if the cluster does not serve it. Without
// the permission to list it, it returns an error: the cache would wait for that without end. A
// nil receiver, as in tests, watches nothing.
func (w *lateWatch) ensure(ctx context.Context) (bool, error) {
	if w == nil {
		return true, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.watching:
		return true, nil
	case w.now().Sub(w.missing) < lookAgain:
		return false, nil
	}
	err := w.reader.List(ctx, w.list.DeepCopyObject().(client.ObjectList), client.Limit(1))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		w.missing = w.now()
		return false, nil
	}
	if err == nil {
		err = w.start()
	}
	if err != nil {
		return false, fmt.Errorf("failed to watch %T: %w", w.list, err)
	}
	w.watching = true
	return true, nil
}

// Start implements manager.Runnable: it waits until the cluster serves the kind.
func (w *lateWatch) Start(ctx context.Context) error {
	ticker := time.NewTicker(lookAgain + time.Second)
	defer ticker.Stop()
	for {
		watching, err := w.ensure(ctx)
		if watching {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "will try again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
