// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package outputs turns the outputs of a stack into the data of a Secret, and tells
// whether a Secret still has what was written to it. It is pure: it must not contain a
// client, or decide when a Secret is written.
package outputs
