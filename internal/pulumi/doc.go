// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package pulumi drives the Pulumi CLI: it executes one run in a directory given by the
// caller, with as few CLI processes as possible, and reports what happened. It is the
// only package that knows the CLI: its files, flags, exit codes, events and signals. It
// needs Linux (/proc) and /bin/sh.
//
// It must not know Kubernetes, read its own environment, decide when a run is needed,
// or keep anything between runs.
package pulumi
