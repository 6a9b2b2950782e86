// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Change counts what a run has changed, or says why that is not known.
func Change(c records.Change) string {
	if c.Plan == nil {
		return c.Message
	}
	text := plan.DoneText(*c.Plan)
	if c.Plan.More.Total()+c.Plan.MoreOutputs > 0 {
		text += " (too much to keep all details)"
	}
	return text
}

// Unchanged says why an entry of the history has no changes, "" if it has.
func Unchanged(entry meta.Snapshot, changes []records.Change) string {
	switch {
	case len(changes) > 0:
		return ""
	case history.Run(entry.Metadata) == "":
		return "there are no details: the controller was of an earlier version"
	case entry.LastReconciledStatus == v1.RunInterruptedReason:
		return "there are no details: the run has no result"
	}
	return "no resources were changed"
}
