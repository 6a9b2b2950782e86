// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// tell writes how far the run in flight has come.
func (r *StackReconciler) tell(ctx context.Context, stack *v1.Stack, now time.Time) error {
	record := stack.Status.Run
	progress := r.progress(record)
	return r.patchStatus(ctx, stack, func() {
		addUnknownCreates(stack, r.unknownCreatesInFlight(record))
		if record.Cancel != "" {
			markWaiting(stack, cancellingProgress(record, progress))
			return
		}
		markWaiting(stack, progressText(record, progress, now.Sub(record.StartedAt.Time)))
	})
}

func (r *StackReconciler) progress(record *v1.RunStatus) run.Progress {
	if r.Progress == nil {
		return run.Progress{}
	}
	return r.Progress(record.ID)
}

// isProgressTold tells whether the status says of the run how far it had come, and what
// it waits for now, if anything. The status is the memory of that: the next process
// has it too.
func isProgressTold(stack *v1.Stack, progress run.Progress) bool {
	if isLook(stack.Status.Run) {
		return true // the conditions are not about it
	}
	message := conditions.GetMessage(stack, meta.ReadyCondition)
	if stack.Status.Run.Cancel != "" {
		progress.Waiting = waitingFor(progress.Waiting)
		return strings.HasPrefix(message, cancellingProgress(stack.Status.Run, progress))
	}
	if strings.HasPrefix(message, startText(stack.Status.Run)) {
		return false
	}
	told, ok := strings.CutPrefix(message, runText(stack.Status.Run)+": ")
	if !ok {
		return true // of something else, as that it is cancelled
	}
	if progress.Waiting == "" {
		return !saysWaiting(told)
	}
	return strings.HasPrefix(told, waitingFor(progress.Waiting))
}

// toldAfter is how long the run had taken when the status last told of it, zero where
// it tells of another thing.
func toldAfter(stack *v1.Stack) time.Duration {
	if isLook(stack.Status.Run) {
		return 0
	}
	text, ok := strings.CutPrefix(conditions.GetMessage(stack, meta.ReadyCondition), runText(stack.Status.Run)+": ")
	at := strings.LastIndex(text, afterText)
	if !ok || at < 0 {
		return 0
	}
	took, err := time.ParseDuration(text[at+len(afterText):])
	if err != nil {
		return 0
	}
	return max(took, 0)
}

// afterText is before how long the run had taken.
const afterText = " after "

// waitingFor is what is waited for, without the words of others on it, which may change
// all the time: each change that is told is a write.
func waitingFor(text string) string {
	what, _, _ := strings.Cut(text, ": ")
	return what
}

// saysWaiting tells of a text of progressText that it is not how far the run has come.
func saysWaiting(told string) bool {
	return !strings.HasPrefix(told, nothingDone) && (told == "" || told[0] < '0' || told[0] > '9')
}

// nothingDone is what is told where nobody knows how far a run has come.
const nothingDone = "nothing is done yet"

// startText is what the status says of a run that has started, up to its timeout.
func startText(record *v1.RunStatus) string {
	return runText(record) + " with a timeout of "
}

// progressText is what the status says of a run that takes its time.
func progressText(record *v1.RunStatus, progress run.Progress, took time.Duration) string {
	done := changesCounted(progress.Done)
	if record.Operation == v1.OperationPreview {
		done = previewCounted(progress.Done)
	}
	text := nothingDone
	if progress.Waiting != "" {
		text = progress.Waiting
	} else if progress != (run.Progress{}) {
		text = list(append(done, counted{progress.InFlight, "in progress"}))
	}
	return fmt.Sprintf("%s: %s%s%s", runText(record), text, afterText, took.Round(time.Second))
}

func runText(record *v1.RunStatus) string {
	text := "Running " + string(record.Operation)
	if record.Revision != "" {
		text += " at revision " + record.Revision
	}
	return text
}
