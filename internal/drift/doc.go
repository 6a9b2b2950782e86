// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package drift has the rules of spec.drift: when a Stack is checked, and what is ignored.
// It has no clock.
package drift
