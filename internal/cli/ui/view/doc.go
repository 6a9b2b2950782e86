// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package view says what the page of `flux pulumi ui` shows, as the JSON types that the page reads. It makes them of Stacks,
// of what a run has left, and of what the controller would decide, all of which the server has read with the rights of the
// person. What it says is in the words of the commands (internal/cli/words and rows). It must not read anything, decide
// anything, or hold a value that is secret: those are masked before. Each text and list is bounded, as anyone who may write
// to the status or to a ConfigMap of a Stack can write there.
package view
