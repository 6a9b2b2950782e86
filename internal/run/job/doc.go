// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package job executes each run as a Kubernetes Job, in the namespace of its Stack and
// under a ServiceAccount there. The controller creates a Secret that contains the run, a
// Role for exactly that Secret, and the Job. The pod executes the run (package pod) and
// writes the result into the Secret (package exchange). Nothing listens, and runs share
// nothing.
//
// Pure functions build the objects, and judge from the Job, its pods and the Secret where
// a run stands. What a run does is up to the driver, and when a run is needed is up to
// the controller.
//
// The record of a run, which Runner.Reconcile takes from one state to the next whenever an
// object of the run has changed:
//
//	Start          to be created: it has todo
//	createObjects  it waits for a pod: unclaimed
//	judge          in flight, once a pod has claimed it
//	settle         ended: it has a result, and its pod may linger
//	Forget         absorbed: the result is in the status
//	drop           nothing is left of it
package job
