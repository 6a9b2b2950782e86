// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package grammar has the rules of what Pulumi reads, as far as a spec can be wrong
// with them: names of stacks, URLs of backends, keys of config values, variables, and
// values that mark a file. They are pure, and each is written down here, so that what
// only looks at a Stack needs no part of Pulumi: its SDK is an engine with plugins, and
// reads the terminal when a program starts that has it.
//
// The tests compare the rules with the SDK. It must not be imported, nor anything that
// does I/O, and what a run does with all this is internal/pulumi's to know.
package grammar
