// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package check tells whether Pulumi can run a Program, and what the Program would reach
// outside its own project, with the path and line of each fault.
//
// It is pure: text in, faults out. It must never need a client, a clock or a file. Pulumi
// YAML's own parser decides what Pulumi YAML is. The checks here cover what the parser
// accepts anyway, such as unknown keys.
//
// The text comes from anyone who can write a Program, so the work and the messages are
// bounded, and no input may make the controller fail.
package check
