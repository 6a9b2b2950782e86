// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package pod does a run in its own pod: it reads what to do from the Secret of the
// run, claims it, so that no other pod does it too, tells how far it has come at a
// bounded rate, and writes the result. The Secret is all that it knows of the cluster.
// It must not decide what is run, or when.
package pod
