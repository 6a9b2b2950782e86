// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package grammar has those rules of Pulumi that a spec can violate: for stack names,
// backend URLs, config keys, variables, and values that mark a file. The rules are pure,
// and are written out here so that code that only looks at a Stack needs no part of
// Pulumi: its SDK is an engine with plugins, and reads from the terminal at startup of
// any program that links it.
//
// The tests compare the rules with the SDK. The package must not import the SDK or
// anything that does I/O. What a run does with all this is up to internal/pulumi.
package grammar
