// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/table"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// historyDiff shows what the runs of the history have changed.
func (s *session) historyDiff(kept *records.Records, output string) error {
	isKnown := func(one meta.Snapshot) bool { return history.Run(one.Metadata) != "" }
	if !slices.ContainsFunc(kept.Entries, isKnown) && output == "" {
		s.historyTable(kept.Entries)
		s.Warningf("there are no details: the controller of these runs was of an earlier version")
		return nil
	}
	var entries []historyEntry
	room := records.MaxShown
	for _, one := range kept.Entries {
		entries = append(entries, historyEntry{Snapshot: one, Changes: kept.Changes(one, &room)})
	}
	var err error
	switch output {
	case "":
		err = s.showHistory(entries)
	case markdownOutput:
		_, err = fmt.Fprint(s.Out, historyMarkdown(entries, maxMarkdown))
	default:
		err = printValue(s.Out, output, entries)
	}
	return err
}

func (s *session) showHistory(entries []historyEntry) error {
	var text strings.Builder
	for n, one := range entries {
		if n > 0 {
			text.WriteString("\n")
		}
		_, _ = fmt.Fprintf(&text, "%s, %s ago\n", table.Visible(one.title()), s.ago(one.LastReconciled.Time))
		if cause := one.Metadata["cause"]; cause != "" {
			text.WriteString("cause: " + table.Visible(cause) + "\n")
		}
		if message := one.Metadata["message"]; message != "" {
			text.WriteString(table.Visible(message) + "\n")
		}
		if why := words.Unchanged(one.Snapshot, one.Changes); why != "" {
			text.WriteString(why + "\n")
		}
		for _, change := range one.Changes {
			when := ""
			if change.EndedAt != nil {
				when = ", " + s.ago(*change.EndedAt) + " ago"
			}
			if change.ApprovedBy != "" {
				when += ", approved by " + table.Visible(change.ApprovedBy)
			}
			_, _ = fmt.Fprintf(&text, "run %s%s: %s\n", table.Visible(change.Run), when, table.Visible(words.Change(change)))
			if change.Plan != nil {
				text.WriteString(plan.DoneTerminal(*change.Plan, s.width(), s.planColour))
			}
		}
	}
	_, err := fmt.Fprint(s.Out, text.String())
	return err
}

// historyMarkdown is the history in at most so many bytes.
func historyMarkdown(entries []historyEntry, most int) string {
	const room = 100 // for what is left out
	var text strings.Builder
	code := func(of string) string { return "`" + strings.ReplaceAll(table.Visible(of), "`", "'") + "`" }
	for n, one := range entries {
		part := fmt.Sprintf("### %s\n\n", code(one.title()))
		if why := words.Unchanged(one.Snapshot, one.Changes); why != "" {
			part += why + "\n\n"
		}
		for _, change := range one.Changes {
			if change.Plan == nil {
				part += fmt.Sprintf("Run %s: %s\n\n", code(change.Run), table.Visible(words.Change(change)))
				continue
			}
			approved := ""
			if change.ApprovedBy != "" {
				approved = ", approved by " + code(change.ApprovedBy)
			}
			part += fmt.Sprintf("Run %s%s\n\n", code(change.Run), approved)
			part += plan.DoneMarkdown(*change.Plan, most-room-text.Len()-len(part)) + "\n"
		}
		if text.Len()+len(part)+room > most {
			_, _ = fmt.Fprintf(&text, "... %d more\n", len(entries)-n)
			break
		}
		text.WriteString(part)
	}
	return text.String()
}

// title describes an entry in a line.
func (e historyEntry) title() string {
	title := e.LastReconciledStatus + ": " + e.Metadata["operation"]
	if revision := e.Metadata["revision"]; revision != "" {
		title += " of " + table.Shorten(revision)
	}
	if e.TotalReconciliations > 1 {
		title += fmt.Sprintf(", %d runs", e.TotalReconciliations)
	}
	return title
}
