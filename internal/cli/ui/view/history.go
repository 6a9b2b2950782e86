// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/records"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/words"
	"github.com/flux-pulumi/pulumi-controller/internal/history"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// EndedRun is a run that has ended, or several in a row that were alike and changed nothing.
type EndedRun struct {
	// ID of the run, "" if an earlier version of the controller has recorded it.
	ID        string `json:"id"`
	Operation string `json:"operation"`
	// State is Succeeded, Proposed, Failed, Cancelled or Interrupted, and Reason the reason of the condition Ready after it.
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"`
	StartedAt string `json:"startedAt,omitempty"`
	EndedAt   string `json:"endedAt,omitempty"`
	Revision  string `json:"revision,omitempty"`
	// ApprovedBy is who has approved the plan that the run was held to.
	ApprovedBy string `json:"approvedBy,omitempty"`
	Message    string `json:"message,omitempty"`
	Created    int    `json:"created,omitempty"`
	Updated    int    `json:"updated,omitempty"`
	Deleted    int    `json:"deleted,omitempty"`
	Replaced   int    `json:"replaced,omitempty"`
	// HasPlan says that it is recorded what the run has changed.
	HasPlan bool `json:"hasPlan,omitempty"`
}

// RunAnswer is what a run has changed, and the end of its log.
type RunAnswer struct {
	Plan    *Plan  `json:"plan,omitempty"`
	Message string `json:"message,omitempty"`
	Log     string `json:"log,omitempty"`
}

// HistoryOf returns the runs that have ended, newest first.
func HistoryOf(entries meta.History) []EndedRun {
	var list []EndedRun
	for _, entry := range first(entries) {
		of := entry.Metadata
		one := EndedRun{ID: name(history.Run(of)), Operation: name(of["operation"]), State: endedAs(entry.LastReconciledStatus), Reason: name(entry.LastReconciledStatus),
			EndedAt: stamp(&entry.LastReconciled), Revision: name(of["revision"]), ApprovedBy: name(of["approvedBy"]), Message: text(endedMessage(entry)),
			HasPlan: len(history.ChangedIn(of)) > 0}
		if entry.TotalReconciliations <= 1 && entry.LastReconciledDuration.Duration > 0 {
			one.StartedAt = entry.LastReconciled.Add(-entry.LastReconciledDuration.Duration).UTC().Format(time.RFC3339)
		}
		one.Created, one.Updated, one.Replaced, one.Deleted = counted(of["changes"], "created"), counted(of["changes"], "updated"), counted(of["changes"], "replaced"), counted(of["changes"], "deleted")
		list = append(list, one)
	}
	return list
}

// endedAs returns how a run has ended, of the status that the history has of it. One that a later controller may write is shown
// as it is.
func endedAs(status string) string {
	switch status {
	case meta.ReconciliationSucceededReason, v1.RecoveredStatus:
		return "Succeeded"
	case v1.ProposedStatus, v1.ApprovalRequiredReason:
		return "Proposed"
	case v1.CancelRequestedReason, v1.RunCancelledReason:
		return "Cancelled"
	case v1.RunInterruptedReason:
		return "Interrupted"
	}
	isFailure := func(effect run.Effect) bool { return effect.Fails && effect.Reason == status }
	failsSo := func(kind run.Kind) bool { return kind.FailedReason == status }
	if slices.ContainsFunc(run.Effects(), isFailure) || slices.ContainsFunc(run.Kinds(), failsSo) {
		return "Failed"
	}
	return name(status)
}

// endedMessage is what the command history says of an entry.
func endedMessage(entry meta.Snapshot) string {
	var lines []string
	if message := entry.Metadata["message"]; message != "" {
		lines = append(lines, message)
	} else if changes := entry.Metadata["changes"]; changes != "" {
		lines = append(lines, changes)
	} else {
		lines = append(lines, entry.LastReconciledStatus)
	}
	if cause := entry.Metadata["cause"]; cause != "" {
		lines = append(lines, "cause: "+cause)
	}
	if entry.TotalReconciliations > 1 {
		lines = append(lines, fmt.Sprintf("%d runs", entry.TotalReconciliations))
	}
	return strings.Join(lines, "\n")
}

// counts are those that the controller writes, such as "1 created, 2 updated".
var counts = regexp.MustCompile(`\b(\d{1,9}) (created|updated|replaced|deleted)\b`)

// counted returns how many resources of a text became something.
func counted(changes, what string) int {
	for _, found := range counts.FindAllStringSubmatch(changes, -1) {
		if found[2] == what {
			number, err := strconv.Atoi(found[1])
			if err == nil {
				return number
			}
		}
	}
	return 0
}

// RunAnswerOf returns what one run of an entry has changed, of all changes of the entry, and its log, nil if there is none.
func RunAnswerOf(entry meta.Snapshot, changes []records.Change, id string, log *run.Log) RunAnswer {
	answer := RunAnswer{Message: words.Unchanged(entry, changes)}
	for _, change := range changes {
		if change.Run != id && history.Run(entry.Metadata) != id {
			continue
		}
		answer = RunAnswer{Plan: done(change.Plan), Message: words.Change(change)}
		if change.Run != id {
			answer.Message = fmt.Sprintf("run %s: %s", change.Run, answer.Message)
		}
		break
	}
	answer.Message = text(answer.Message)
	if log != nil {
		answer.Log = words.Log(log)
	}
	return answer
}
