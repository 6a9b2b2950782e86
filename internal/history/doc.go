// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package history keeps what the runs in the history of a Stack have changed: it converts that into the
// data of a ConfigMap, with a key for each run, and back. The entries of the history name the runs. It
// must not need a client, or decide when anything is written.
package history
