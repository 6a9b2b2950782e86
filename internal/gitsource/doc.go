// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package gitsource says which GitRepository of Flux, and which Secret for it,
// stand for the projectRepo of a Stack. All that is done with git is done by
// source-controller.
//
// The rules are pure: a URL, a Stack and its credentials in, the objects out. The
// credentials are read through a small interface. No client, no write and no clock
// must be needed here.
package gitsource
