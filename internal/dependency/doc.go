// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package dependency says which Stacks have to come before which, and whether
// they are ready: values in, values out. What follows from that is for
// internal/decide, and who is to be woken by it for internal/controller. A
// client or a logger must never be needed here.
package dependency
