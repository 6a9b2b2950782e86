// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	eventv1 "github.com/fluxcd/pkg/apis/event/v1beta1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// secretKeys also indexes the Stack by the Secret it writes, so that a change of that
// triggers a reconcile.
func secretKeys(stack *v1.Stack) []string {
	keys := keysOf(secretRefs)(stack)
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		keys = append(keys, stack.Namespace+"/"+to.Name)
	}
	return keys
}

// deleteFormerOutputs deletes a Secret that was written and that the spec no longer names.
func (r *StackReconciler) deleteFormerOutputs(ctx context.Context, stack *v1.Stack) error {
	recorded := stack.Status.OutputsSecret
	if err := r.deleteOrLeave(ctx, stack, recorded.Name); err != nil {
		return err
	}
	return r.patchStatus(ctx, stack, func() { stackstatus.MarkOutputsReleased(stack) })
}

// releaseOutputs deletes the Secret of a Stack that goes. The garbage collector would
// keep it if the Stack is deleted with orphaned dependents, and leave secrets without an
// owner.
func (r *StackReconciler) releaseOutputs(ctx context.Context, stack *v1.Stack) error {
	names := map[string]bool{}
	if recorded := stack.Status.OutputsSecret; recorded != nil {
		names[recorded.Name] = true
	}
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		names[to.Name] = true // it may have been written without the status
	}
	for name := range names {
		if err := r.deleteOrLeave(ctx, stack, name); err != nil {
			return err
		}
	}
	return nil
}

// deleteOrLeave deletes a Secret of the Stack. If the API server or an admission policy
// refuses that, it leaves the Secret to the garbage collector, which deletes it after the
// Stack: neither runs nor the deletion of the Stack wait for it.
func (r *StackReconciler) deleteOrLeave(ctx context.Context, stack *v1.Stack, name string) error {
	err := r.publisher().DeleteOutputs(ctx, stack, name)
	if !apierror.IsRefused(err) {
		return err
	}
	r.leaveBehind(ctx, stack, v1.OutputsFailedReason, err)
	return nil
}

// publishOutputs writes the outputs of a run to their Secret, and returns its status. It
// comes before the status write, so that whoever waits for the Stack to be Ready finds
// the outputs.
func (r *StackReconciler) publishOutputs(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) (*v1.OutputsSecretStatus, error) {
	to := stack.Spec.WriteOutputsToSecret
	if !stackstatus.ReturnsOutputs(stack, record, result) || result.Plain == nil || !slices.Equal(result.Plain.Wanted.Keys, to.Keys) {
		return stackstatus.OutputsUnwritten(stack, record, result), nil
	}
	shown := stack.Status.Outputs
	if run.KindOfRecord(record).Reconciles && result.Outputs != nil {
		shown = stackstatus.ShownOutputs(result) // the status is about to have them
	}
	return r.writeOutputs(ctx, stack, *result.Plain, shown, result.EndedAt)
}

// writeOutputs writes the Secret, and returns its status. It returns an error only if a retry
// with the same outputs may help.
func (r *StackReconciler) writeOutputs(ctx context.Context, stack *v1.Stack, plain run.PlainOutputs, shown map[string]apiextensionsv1.JSON,
	now time.Time,
) (*v1.OutputsSecretStatus, error) {
	to := stack.Spec.WriteOutputsToSecret
	if recorded := stack.Status.OutputsSecret; recorded != nil && recorded.Name != to.Name {
		// Renamed in mid-run: nothing would know of the old Secret any more.
		if err := r.deleteOrLeave(ctx, stack, recorded.Name); err != nil {
			return nil, err
		}
		stack = stackstatus.WithoutOutputsSecret(stack)
	}
	written, err := r.publisher().Outputs(ctx, stack, plain, shown)
	switch {
	case err != nil:
		return nil, err
	case written.Invalid != "":
		return stackstatus.OutputsFailed(stack, written.Invalid, stack.Generation, time.Time{}), nil
	case written.Refused != "":
		return stackstatus.OutputsRefused(stack, written.Refused, written.Secret, now), nil
	case written.Digest == "":
		return stackstatus.OutputsUnread(stack), nil // someone else's Secret, which the next reconcile reports
	}
	return &v1.OutputsSecretStatus{Name: to.Name, Digest: written.Digest}, nil
}

// announceOutputs announces what became of the outputs, except that the update itself
// wrote them, which is no news.
func (r *StackReconciler) announceOutputs(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, before *v1.OutputsSecretStatus) {
	recorded := stack.Status.OutputsSecret
	switch {
	case recorded == nil || equality.Semantic.DeepEqual(recorded, before):
	case recorded.Failure != nil:
		r.announce(ctx, stack, stackstatus.Event{Type: corev1.EventTypeWarning, Reason: v1.OutputsFailedReason, Message: recorded.Failure.Message,
			Revision: record.Revision, OriginRevision: record.OriginRevision})
	case !run.KindOfRecord(record).Reconciles && recorded.Digest != "":
		r.announce(ctx, stack, stackstatus.Event{Type: eventv1.EventTypeTrace, Reason: meta.ReconciliationSucceededReason,
			Message:  fmt.Sprintf("Wrote the outputs to Secret %s/%s", stack.Namespace, recorded.Name),
			Revision: record.Revision, OriginRevision: record.OriginRevision})
	}
}

// wantedOutputs returns the outputs that a run has to read.
func wantedOutputs(stack *v1.Stack, seen *observe.Observation, operation run.Operation) *run.WantedOutputs {
	if !run.KindOf(operation).ReadsOutputs || !stackstatus.WritesOutputs(stack) || seen.Outputs.Blocked != "" {
		return nil
	}
	return &run.WantedOutputs{Keys: slices.Clone(stack.Spec.WriteOutputsToSecret.Keys)}
}
