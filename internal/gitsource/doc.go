// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitsource defines the Flux GitRepository, and the Secret for it, that implement
// the projectRepo of a Stack. source-controller does all the work with git.
//
// The rules are pure: a URL, a Stack, its credentials and the objects of the cluster in, the
// objects as they should be out. The package must never need a write or a clock: package
// gitobjects writes.
package gitsource
