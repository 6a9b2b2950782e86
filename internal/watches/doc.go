// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package watches starts watches when something needs them, and wakes reconciles for reasons
// that are not in the API server.
//
// A cluster need not serve all kinds that Stacks and PolicySets can refer to, nor need the
// controller have a right to list them before that. What a reconcile does when it is woken, and
// which Stacks an event concerns, does not belong here.
package watches
