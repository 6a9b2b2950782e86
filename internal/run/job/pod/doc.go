// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package pod executes a run in its own pod: it reads the run from its Secret, claims it,
// so that no other pod executes it too, reports the progress at a bounded rate, and
// writes the result. The Secret is all that it knows of the cluster. It must not decide
// what runs, or when.
package pod
