// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// historyEntry is an entry of the history with what its runs have changed.
type historyEntry struct {
	meta.Snapshot
	// Changes of the last runs that have changed something, newest first.
	Changes []records.Change `json:"changes"`
}

// changeText counts what a run has changed, or says why that is not known.
func changeText(c records.Change) string {
	if c.Plan == nil {
		return c.Message
	}
	text := plan.DoneText(*c.Plan)
	if c.Plan.More.Total()+c.Plan.MoreOutputs > 0 {
		text += " (too much to keep all details)"
	}
	return text
}
