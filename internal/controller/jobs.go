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
	// Withdrawable reports whether no pod has started a run in flight yet, and Withdraw
	// ends such a run.
	Withdrawable(id string) bool
	Withdraw(id string)
	// NamespaceEnds reports whether a namespace is being deleted, so that no run can start
	// in it.
	NamespaceEnds(ctx context.Context, namespace string) (bool, error)
}

// EarlierJobs is what a controller that executes runs itself knows about those that an
// earlier one has started as Jobs.
type EarlierJobs interface {
	// Unproven returns why nothing proves whether a run that it has looked at is at work,
	// "" if that is known.
	Unproven(id string) string
}
