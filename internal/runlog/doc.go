// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package runlog keeps the end of the log of a run within bounds, and converts it to and
// from the data of a ConfigMap. It must not need a client, or decide when anything is
// written.
package runlog
