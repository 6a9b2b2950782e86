// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package history is the record of the runs of a Stack: who ran what and why, with which result, what it has
// changed, and the end of its log. It converts records into the data of one ConfigMap, and back: an index, and for
// each run a key for its changes and one for its log. It also says which runs the entries of status.history name. It
// must not need a client, or decide when anything is written.
package history
