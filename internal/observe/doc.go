// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package observe gathers what a decision on a Stack depends on. It only reads: nothing in it
// can write to the API server.
package observe
