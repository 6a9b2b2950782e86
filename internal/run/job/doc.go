// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package job does each run as a Kubernetes Job, in the namespace of its Stack and
// under an account of that. The controller makes a Secret with the run in it, a Role
// for exactly that Secret, and the Job; the pod does the run (package pod) and writes
// the result into the Secret (package exchange). Nothing listens, and nothing is
// shared between two runs.
//
// What the objects are, and what a Job, its pods and the Secret tell of a run, are
// pure functions here. What a run does is the driver's business, and when one is
// needed the controller's.
package job
