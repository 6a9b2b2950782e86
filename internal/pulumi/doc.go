// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package pulumi drives the Pulumi CLI: it does one run in a directory that the
// caller gives, with the smallest number of CLI processes, and tells what
// happened. It is the only package that knows the CLI: its files, flags, exit
// codes, events and signals. It needs Linux (/proc) and /bin/sh.
//
// It must not know Kubernetes, read an environment of its own, decide when a
// run is needed, or keep anything between two runs.
package pulumi
