// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
)

// historyEntry is an entry of the history with what its runs have changed.
type historyEntry struct {
	meta.Snapshot
	// Changes of the last runs that have changed something, newest first.
	Changes []records.Change `json:"changes"`
}
