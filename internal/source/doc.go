// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package source turns a reference to a Flux source into a directory on disk: Resolver
// finds the source's artifact, Fetcher downloads, verifies and unpacks it within bounds,
// and ProgramDir finds the program in it.
//
// The package does not decide what to do about a missing or unready source, knows nothing
// about Pulumi, and keeps nothing between calls.
package source
