// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// The end of a run must get into the status, or the Stack would be stuck forever. The
// details need not: a result can be large, whoever may write the program controls it, and
// a policy of the cluster may refuse any of it. What happened to resources is in the
// state.

const (
	// maxToldRefusal bounds the quoted reason for a refused write, in bytes.
	maxToldRefusal = 500
	// maxFewCreates is how many creations of unknown outcome are named if the API server
	// accepts no more: one is enough to keep the next run from creating them again.
	maxFewCreates = 10
)

// writeResult writes the result of a run to the status: all of it, or as much as the API
// server accepts. It returns what was written.
func (r *StackReconciler) writeResult(ctx context.Context, stack *v1.Stack, result *run.Result, take func(*run.Result)) (*run.Result, error) {
	before, record := stack.Status.DeepCopy(), *stack.Status.Run
	onlyOwn := func(result *run.Result, _ error) *run.Result {
		return withoutReason(result, record.StartedAt.Time, r.Now())
	}
	andProject := func(result *run.Result, why error) *run.Result {
		told := onlyOwn(result, why)
		told.Project = result.Project // by which a stack that is missing later is known to be lost
		return told
	}
	err := r.patchStatus(ctx, stack, func() { take(result) })
	var why error
	for _, less := range []func(*run.Result, error) *run.Result{withoutOutputs, withoutWords, andProject, onlyOwn} {
		if !isRefused(err) && !isTooLarge(err) {
			break
		}
		why = err
		told := less(result, err)
		stack.Status = *before.DeepCopy()
		err = r.patchStatus(ctx, stack, func() {
			take(told)
			noteLeftOut(stack, &record, result, told)
		})
		if err == nil && told.Message != result.Message {
			r.announceLeftOut(ctx, stack, &record, result, told, why)
		}
		if err == nil {
			return told, nil
		}
	}
	return result, err
}

// withoutOutputs returns the result without anything that may be large. The outputs are
// in the state.
func withoutOutputs(result *run.Result, _ error) *run.Result {
	small := *result
	if result.Outputs == nil {
		return &small
	}
	small.LeftOut += len(result.Outputs)
	small.Outputs = map[string]json.RawMessage{}
	return &small
}

// withoutWords returns only what has to be known of the run, and why the rest is missing.
func withoutWords(result *run.Result, why error) *run.Result {
	return &run.Result{
		Outcome: result.Outcome, Interrupted: result.Interrupted, Emptied: result.Emptied, UnknownCreates: result.UnknownCreates,
		Project: result.Project, Backend: result.Backend, Changes: result.Changes,
		Message:   "What the run has told is left out, as the API server did not take it: " + bounded.Text(why.Error(), maxToldRefusal),
		StartedAt: result.StartedAt, EndedAt: result.EndedAt,
	}
}

// withoutReason returns nothing that came from outside, except a few of the creations of
// unknown outcome. The times are this controller's too.
func withoutReason(result *run.Result, began, now time.Time) *run.Result {
	small := &run.Result{
		Outcome: result.Outcome, Interrupted: result.Interrupted, Emptied: result.Emptied, UnknownCreates: result.UnknownCreates,
		Changes: result.Changes, StartedAt: began, EndedAt: now,
	}
	small.Message = "What the run has told is left out, as the API server did not take it: the log of the controller says why"
	if left := len(small.UnknownCreates) - maxFewCreates; left > 0 {
		small.UnknownCreates = small.UnknownCreates[:maxFewCreates]
		small.Message += fmt.Sprintf(", and names %d more creations of unknown outcome", left)
	}
	return small
}

// noteLeftOut sets the message of a run that succeeded, which otherwise has none. That a
// run has found its stack is never left out: there may be something to destroy (neverRan).
func noteLeftOut(stack *v1.Stack, record *v1.RunStatus, result, told *run.Result) {
	if result.Backend != "" && stack.Status.ProjectInfo == nil {
		stack.Status.ProjectInfo = &v1.ProjectInfo{}
	}
	if last := stack.Status.LastUpdate; last != nil && last.Name == record.ID && last.Message == "" {
		last.Message = told.Message
	}
}

// announceLeftOut announces what was left out, and logs what is recorded nowhere else.
func (r *StackReconciler) announceLeftOut(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result, told *run.Result, why error) {
	log := ctrl.LoggerFrom(ctx)
	log.Error(why, "what a run has told is not in the status", "run", record.ID, "message", result.Message)
	for _, urn := range result.UnknownCreates[len(told.UnknownCreates):] {
		log.Info("a creation of unknown outcome is not in the status", "run", record.ID, "urn", urn)
	}
	r.announce(ctx, stack, notice{kind: corev1.EventTypeWarning, reason: statusRefusedReason, message: told.Message,
		revision: record.Revision, originRevision: record.OriginRevision})
}

// statusRefusedReason is for events only: the status could not be written.
const statusRefusedReason = meta.FailedReason

// refusedText describes a status that cannot be written at all.
func refusedText(err error) string {
	return "The API server does not take the status of the Stack, which has to say that its run has ended. Nothing is run before it does: " + bounded.Text(err.Error(), maxToldRefusal)
}
