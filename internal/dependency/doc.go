// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package dependency determines which Stacks must come before which, and whether they are
// ready: values in, values out. internal/decide decides what follows from that, and
// internal/controller wakes dependents. The package must never need a client or a logger.
package dependency
