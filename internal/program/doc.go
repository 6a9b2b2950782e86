// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package program turns a Program into the text that Pulumi reads and its digest, and
// describes faults of a Program. Finding the faults is up to package check, which needs
// the parser of Pulumi YAML. Code that only displays a Program does not need the parser:
// the faults are in its status.
//
// It is pure: it must never need a client, a clock or a file.
package program
