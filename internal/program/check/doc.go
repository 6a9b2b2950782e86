// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package check says whether a Program is one that Pulumi can run, and what it
// would reach outside its own project, with the path and the line of each fault.
// It is pure: text in, faults out. A client, a clock or a file must never be needed
// here. What Pulumi YAML is, is what its own parser says; what the parser passes
// over, as a key that it does not know, is found here.
//
// The text comes from whoever may write a Program, so that the work and what is
// told of it are bounded, and nothing in it may make the controller fail.
package check
