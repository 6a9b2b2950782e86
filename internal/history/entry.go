// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
)

// The metadata of an entry of status.history.
const (
	// runKey has the ID of the last run of the entry.
	runKey = "run"
	// changedInKey has the IDs of its last runs that have changed something, newest first. Most runs
	// with the same inputs and the same result change nothing, and must not hide what the others did.
	changedInKey = "changedIn"
	// lastChangeKey has the ID of the last run that has changed something, if that is not the first one of changedIn
	// in all entries: an entry comes first again when a run shares it that has changed nothing, and old ones are dropped.
	lastChangeKey = "lastChange"
)

// maxChanges bounds the runs of one entry whose changes are kept.
const maxChanges = 5

// Of returns the metadata of the entry of a run. Runs with the same inputs and the same result share
// an entry: before has the metadata of it so far.
func Of(run string, changed bool, before map[string]string) map[string]string {
	metadata := map[string]string{runKey: run}
	runs := ChangedIn(before)
	if changed {
		runs = slices.Insert(runs, 0, run)
	}
	if runs = runs[:min(len(runs), maxChanges)]; len(runs) > 0 {
		metadata[changedInKey] = strings.Join(runs, ",")
	}
	return metadata
}

// LastChange returns the ID of the run that has changed something last, "" if the history has none.
func LastChange(history meta.History) string {
	if latest := history.Latest(); latest != nil && latest.Metadata[lastChangeKey] != "" {
		return latest.Metadata[lastChangeKey]
	}
	for _, entry := range history {
		if runs := ChangedIn(entry.Metadata); len(runs) > 0 {
			return runs[0]
		}
	}
	return ""
}

// SetLastChange has the history say which run has changed something last. Its latest entry is new, and has metadata.
func SetLastChange(history meta.History, run string) {
	if latest := history.Latest(); LastChange(history) != run {
		latest.Metadata[lastChangeKey] = run
	}
}

// WithChange returns the metadata of an entry with one more run that has changed something, and that is in
// no entry of its own.
func WithChange(metadata map[string]string, run string) map[string]string {
	changed := make(map[string]string)
	maps.Copy(changed, metadata)
	changed[changedInKey] = Of(run, true, metadata)[changedInKey]
	delete(changed, lastChangeKey)
	return changed
}

// Run returns the ID of the last run of an entry, "" if an earlier version has written the entry.
func Run(metadata map[string]string) string { return metadata[runKey] }

// Alone returns the metadata of an entry of this run alone, without what others that share it have changed.
func Alone(run string, changed bool, metadata map[string]string) map[string]string {
	alone := maps.Clone(metadata)
	delete(alone, changedInKey)
	delete(alone, lastChangeKey)
	maps.Copy(alone, Of(run, changed, nil))
	return alone
}

// ChangedIn returns the IDs of the last runs of an entry that have changed something, newest first.
func ChangedIn(metadata map[string]string) []string {
	return slices.DeleteFunc(strings.Split(metadata[changedInKey], ","), func(run string) bool { return run == "" })
}

// Runs returns the IDs of all runs of the history that may have changed something, newest first. That
// may be a run whose end nobody has seen, if its changes were written and its result was lost then.
func Runs(history meta.History) []string {
	var runs []string
	for _, entry := range history {
		if last := Run(entry.Metadata); last != "" && !slices.Contains(ChangedIn(entry.Metadata), last) {
			runs = append(runs, last)
		}
		runs = append(runs, ChangedIn(entry.Metadata)...)
	}
	return runs
}
