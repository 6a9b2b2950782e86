// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// UnservedAfter is how long to wait before looking again for a kind that is not served. It is
	// short, as the runs that start meanwhile are not guarded, and one list for all Stacks.
	UnservedAfter = 5 * time.Second
	// forbiddenAfter is how long to wait before listing a kind again that may not be listed.
	forbiddenAfter = time.Minute
)

// OnDemand starts a watch of a kind when it is needed. To watch it from the start would stop a
// controller that is upgraded before its CRDs, or that lacks a permission which it may not need.
type OnDemand struct {
	// reader asks the API server itself, and list is an empty list of the kind.
	reader client.Reader
	list   client.ObjectList
	// start starts the watch.
	start func() error
	now   func() time.Time

	started atomic.Bool
	mu      sync.Mutex
	// err is why the kind could not be listed at triedAt, nil if that may have passed.
	err     error
	triedAt time.Time
}

// NewOnDemand returns a watch of a kind that the function starts. The reader asks the API server
// itself, and the list is an empty one of the kind.
func NewOnDemand(reader client.Reader, list client.ObjectList, now func() time.Time, start func() error) *OnDemand {
	return &OnDemand{reader: reader, list: list, now: now, start: start}
}

// IsStarted reports whether the kind is watched. A nil receiver, as in tests, watches nothing.
func (w *OnDemand) IsStarted() bool { return w != nil && w.started.Load() }

// Ensure watches the kind from now on. Its error is that of a list, which it tries first: the
// informer of a kind that is not served, or may not be listed, would wait without end, and each
// reconcile with it. A nil receiver, as in tests, watches nothing.
func (w *OnDemand) Ensure(ctx context.Context) error {
	if w == nil || w.IsStarted() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.IsStarted() || w.isKnown() {
		return w.err
	}
	w.err = nil
	err := w.reader.List(ctx, w.list.DeepCopyObject().(client.ObjectList), client.Limit(1))
	if isNotServed(err) || apierrors.IsForbidden(err) {
		w.err, w.triedAt = err, w.now()
	}
	if err != nil {
		return err
	}
	if err := w.start(); err != nil {
		return fmt.Errorf("failed to watch: %w", err)
	}
	w.started.Store(true)
	return nil
}

// isKnown reports whether the last error is recent enough not to ask the API server again. After
// the clock was set back, it is not.
func (w *OnDemand) isKnown() bool {
	patience := UnservedAfter
	if apierrors.IsForbidden(w.err) {
		patience = forbiddenAfter
	}
	since := w.now().Sub(w.triedAt)
	return w.err != nil && since >= 0 && since < patience
}

// isNotServed reports whether a list failed because the cluster does not serve the kind.
func isNotServed(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }
