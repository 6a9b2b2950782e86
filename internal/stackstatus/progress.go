// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// MarkProgress records the progress of the run in flight.
func MarkProgress(stack *v1.Stack, progress run.Progress, now time.Time) {
	record := stack.Status.Run
	record.Progress = &v1.RunProgress{
		Message: progressText(record.Operation, progress), WaitingFor: waitingFor(progress.Waiting), LastUpdateTime: metav1.Time{Time: now},
	}
	if record.Cancel != "" {
		MarkWaiting(stack, cancellingProgress(record, progress))
		return
	}
	MarkWaiting(stack, fmt.Sprintf("%s: %s after %s", runText(record), record.Progress.Message, now.Sub(record.StartedAt.Time).Round(time.Second)))
}

// IsProgressReported reports whether the status has the progress of the run, and what it
// waits for now, if anything.
func IsProgressReported(record *v1.RunStatus, progress run.Progress) bool {
	recorded := record.Progress
	switch {
	case !run.KindOfRecord(record).InConditions:
		return true
	case record.Cancel != "":
		// They say that it is being cancelled, and what delays that.
		return waitingFor(progress.Waiting) == "" || recorded != nil && recorded.WaitingFor == waitingFor(progress.Waiting)
	}
	return recorded != nil && recorded.WaitingFor == waitingFor(progress.Waiting)
}

// ProgressReportedAfter returns how long the run had taken when its progress was last written, or
// zero if it need not be written again.
func ProgressReportedAfter(record *v1.RunStatus) time.Duration {
	if !run.KindOfRecord(record).InConditions || record.Cancel != "" || record.Progress == nil {
		return 0
	}
	return max(record.Progress.LastUpdateTime.Sub(record.StartedAt.Time), 0)
}

// waitingFor returns what a run waits for, without the quoted details, which may change
// all the time: each change would be a write.
func waitingFor(text string) string {
	what, _, _ := strings.Cut(text, ": ")
	return what
}

// nothingDone is the progress of a run that has reported none.
const nothingDone = "no resource operations yet"

// startText describes a run that has started, up to its timeout.
func startText(record *v1.RunStatus) string {
	return runText(record) + " with a timeout of "
}

// progressText describes the progress of a run.
func progressText(operation v1.Operation, progress run.Progress) string {
	switch {
	case progress.Waiting != "":
		return progress.Waiting
	case progress == (run.Progress{}):
		return nothingDone
	case progress.Done.Unknown:
		return unknownChanges
	}
	done := changesCounted(progress.Done)
	if run.KindOf(operation).Previews {
		done = previewCounted(progress.Done)
	}
	return list(append(done, counted{progress.InFlight, "in progress"}))
}

func runText(record *v1.RunStatus) string {
	text := "Running " + string(record.Operation)
	if record.Revision != "" {
		text += " at revision " + record.Revision
	}
	return text
}
