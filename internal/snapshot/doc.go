// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot keeps what the installation of a program's dependencies brought to its
// workspace, so that the next run with the same dependencies installs nothing.
//
// A snapshot is one file, a tar with its SHA-256 behind it. One file can be written whole or
// not at all, is verified before anything of it is used, and costs half of the system calls
// of a copy of a tree. Each run gets a copy of its own: what a program writes never gets
// back into a snapshot.
//
// A copy that a run has left untouched is kept for the next run of the same namespace, which gets
// it by a rename: see seal for how every change is noticed.
//
// What is too big for that stays in the cache of its namespace, where tools use it in place.
//
// What decides whether two installations are the same is the key, which is the caller's. This
// package knows no language, no runs and nothing of Pulumi.
package snapshot
