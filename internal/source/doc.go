// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package source turns a reference to a Flux source into a directory on disk:
// Resolver finds the artifact that the source offers, Fetcher brings it here,
// verified and bounded, and ProgramDir finds the program in it.
//
// What to do about a source that is missing or not ready is not decided here,
// nothing here knows Pulumi, and nothing is kept between calls.
package source
