// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package program makes a text for Pulumi of what a Program says, with a digest of it,
// and has the words for what is wrong with one. What that is, package check finds out,
// with the parser of Pulumi YAML: those who only look at a Program need none, and read
// in its status what was found. It is pure: a client, a clock or a file must never be
// needed here.
package program
