// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package migration says what becomes of the objects of the Pulumi operator when this controller
// replaces it. What the controller does with a Stack is foreseen by internal/observe, with the rules
// of the controller: this package puts it into words, and adds what no rule is about, such as what
// the operator did differently. It has no client and no clock.
package migration
