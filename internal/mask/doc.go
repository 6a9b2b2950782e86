// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package mask takes secret values out of texts, however a program has written them
// there, and finds what is secret in a value, in a program, in a state and in a URL.
//
// All of it is pure: values in, values out. It must not know runs, the Pulumi CLI, its
// files or its events, or what is told to whom, and use no other package of the project.
package mask
