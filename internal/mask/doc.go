// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package mask removes secret values from texts, however a program has encoded them, and
// finds the secrets in a value, a program, a state and a URL.
//
// It is pure: values in, values out. It knows nothing about runs, the Pulumi CLI with its
// files and events, or who reads a text, and imports no other package of the project.
package mask
