// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package words puts into words for a person what the status of a Stack and its records say: what the controller decides
// and why, what is proposed, what has drifted, what a run has changed. The commands and the page show the same words.
// It must not read anything, nor know how the words are shown.
package words
