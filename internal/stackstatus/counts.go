// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// isChanged reports whether anything but unchanged resources was counted, or may have been.
func isChanged(c run.Changes) bool {
	return c.Created+c.Updated+c.Replaced+c.Deleted+c.Retained > 0 || c.Unknown
}

// counted is a number of resources and what happened to them.
type counted struct {
	count int
	what  string
}

// unknownChanges is the text for changes that were not counted.
const unknownChanges = "an unknown number of changes (some of Pulumi's events could not be read)"

// changesText lists changes, such as "2 created, 3 unchanged".
func changesText(c run.Changes) string {
	if c.Unknown {
		return unknownChanges
	}
	return list(changesCounted(c))
}

func changesCounted(c run.Changes) []counted {
	return []counted{
		{c.Created, "created"}, {c.Updated, "updated"}, {c.Replaced, "replaced"}, {c.Deleted, "deleted"},
		{c.Retained, "left in place (retainOnDelete)"}, {c.Same, "unchanged"},
	}
}

// The parts of previewText before the revision and before the counts.
const (
	previewedText = "Previewed revision "
	previewCounts = ": "
)

// previewText lists what an update would do, such as "2 to create, 3 unchanged".
func previewText(revision string, c run.Changes) string {
	return previewedText + revision + previewCounts + list(previewCounted(c))
}

// previewedAt rewrites the text of a preview for another revision with the same content.
func previewedAt(revision, found string) string {
	at := strings.LastIndex(found, previewCounts)
	if at < 0 {
		return found
	}
	return previewedText + revision + found[at:]
}

func previewCounted(c run.Changes) []counted {
	return []counted{
		{c.Created, "to create"}, {c.Updated, "to update"}, {c.Replaced, "to replace"}, {c.Deleted, "to delete"},
		{c.Retained, "to leave in place (retainOnDelete)"}, {c.Same, "unchanged"},
	}
}

func list(all []counted) string {
	var parts []string
	for _, part := range all {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if len(parts) == 0 {
		return "no resources"
	}
	return strings.Join(parts, ", ")
}
