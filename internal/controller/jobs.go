// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Jobs is what a Runner knows that executes runs as Jobs, each in its own pod, beside what
// every Runner knows.
type Jobs interface {
	// Check returns why no pod can ever execute a run: it cannot satisfy
	// spec.workspaceTemplate, or the run is too large.
	Check(todo run.Run) error
	// JobName returns the name of the Job of a run.
	JobName(id string) string
	// WaitsFor returns what, other than runs in flight, keeps the next run of a Stack from
	// a slot; "" is nothing.
	WaitsFor(namespace, name string) string
	// Withdraw ends a run in flight that no pod has started.
	Withdraw(of run.Ref)
	// NamespaceEnds reports whether a namespace is being deleted, so that no run can start
	// in it.
	NamespaceEnds(ctx context.Context, namespace string) (bool, error)
}
