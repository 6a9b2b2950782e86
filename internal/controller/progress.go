// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// tell writes how far the run in flight has come. The status is the memory of that: the
// next process has it too.
func (r *StackReconciler) tell(ctx context.Context, stack *v1.Stack, now time.Time) error {
	progress := r.progress(stack.Status.Run)
	return r.patchStatus(ctx, stack, func() {
		addUnknownCreates(stack, r.unknownCreatesInFlight(stack.Status.Run))
		markProgress(stack, progress, now)
	})
}

// markProgress: the run in flight takes its time.
func markProgress(stack *v1.Stack, progress run.Progress, now time.Time) {
	record := stack.Status.Run
	record.Progress = &v1.RunProgress{
		Message: progressText(record.Operation, progress), WaitingFor: waitingFor(progress.Waiting), LastUpdateTime: metav1.Time{Time: now},
	}
	if record.Cancel != "" {
		markWaiting(stack, cancellingProgress(record, progress))
		return
	}
	markWaiting(stack, fmt.Sprintf("%s: %s after %s", runText(record), record.Progress.Message, now.Sub(record.StartedAt.Time).Round(time.Second)))
}

func (r *StackReconciler) progress(record *v1.RunStatus) run.Progress {
	if r.Progress == nil {
		return run.Progress{}
	}
	return r.Progress(record.ID)
}

// isProgressTold tells whether the status says how far the run had come, and what it
// waits for now, if anything.
func isProgressTold(record *v1.RunStatus, progress run.Progress) bool {
	told := record.Progress
	switch {
	case isLook(record):
		return true // the conditions are not about it
	case record.Cancel != "":
		// They say that it is cancelled, and what stands in the way of that.
		return waitingFor(progress.Waiting) == "" || told != nil && told.WaitingFor == waitingFor(progress.Waiting)
	}
	return told != nil && told.WaitingFor == waitingFor(progress.Waiting)
}

// toldAfter is how long the run had taken when the status last told of it, zero where
// it is not to tell of it again.
func toldAfter(record *v1.RunStatus) time.Duration {
	if isLook(record) || record.Cancel != "" || record.Progress == nil {
		return 0
	}
	return max(record.Progress.LastUpdateTime.Sub(record.StartedAt.Time), 0)
}

// waitingFor is what is waited for, without the words of others on it, which may change
// all the time: each change that is told is a write.
func waitingFor(text string) string {
	what, _, _ := strings.Cut(text, ": ")
	return what
}

// nothingDone is what is told where nobody knows how far a run has come.
const nothingDone = "nothing is done yet"

// startText is what the status says of a run that has started, up to its timeout.
func startText(record *v1.RunStatus) string {
	return runText(record) + " with a timeout of "
}

// progressText tells how far a run has come.
func progressText(operation v1.Operation, progress run.Progress) string {
	switch {
	case progress.Waiting != "":
		return progress.Waiting
	case progress == (run.Progress{}):
		return nothingDone
	}
	done := changesCounted(progress.Done)
	if operation == v1.OperationPreview {
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
