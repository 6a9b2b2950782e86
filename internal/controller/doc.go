// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller is the Kubernetes side of Stacks: watches, indexes, conditions,
// events and the finalizer.
//
// A reconcile observes (observe.go), lets internal/decide decide, acts once (act.go) and
// writes the status once (status.go). It never waits for a run. Rules about what to do
// next do not belong here, and nothing here may know how Pulumi is driven.
package controller
