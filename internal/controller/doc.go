// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller is the Kubernetes side of Stacks and Programs: watches, indexes,
// reconciles, events and the finalizer.
//
// A reconcile observes (internal/observe), lets internal/decide decide, and acts once
// (act.go). internal/stackstatus computes the new status, and patch_status.go writes it. It
// never waits for a run. Rules about what to do next do not belong here, nor what a status
// says, and nothing here may know how Pulumi is driven.
package controller
