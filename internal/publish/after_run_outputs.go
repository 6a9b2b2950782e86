// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/apierror"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// ReleaseOutputs deletes the Secret of a Stack that goes, as DeleteOutputs does. The garbage
// collector would keep it if the Stack is deleted with orphaned dependents, and leave secrets
// without an owner.
func (p Publisher) ReleaseOutputs(ctx context.Context, stack *v1.Stack) (left []error, err error) {
	names := map[string]bool{}
	if recorded := stack.Status.OutputsSecret; recorded != nil {
		names[recorded.Name] = true
	}
	if to := stack.Spec.WriteOutputsToSecret; to != nil {
		names[to.Name] = true // it may have been written without the status
	}
	for name := range names {
		leaves, err := p.DeleteOutputs(ctx, stack, name)
		left = append(left, leaves...)
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// DeleteOutputs deletes a Secret of the Stack. If the API server or an admission policy refuses
// that, it leaves the Secret to the garbage collector, which deletes it after the Stack, and
// returns why: neither runs nor the deletion of the Stack wait for it.
func (p Publisher) DeleteOutputs(ctx context.Context, stack *v1.Stack, name string) (left []error, err error) {
	err = p.deleteOutputs(ctx, stack, name)
	if apierror.IsRefused(err) {
		return []error{err}, nil
	}
	return nil, err
}

// outputsAfterRun writes the outputs of a run to their Secret, and returns its status. It
// comes before the status write, so that whoever waits for the Stack to be Ready finds
// the outputs. It also returns why a former Secret is left.
func (p Publisher) outputsAfterRun(ctx context.Context, stack *v1.Stack, record *v1.RunStatus, result *run.Result) (status *v1.OutputsSecretStatus, left []error, err error) {
	to := stack.Spec.WriteOutputsToSecret
	if !stackstatus.ReturnsOutputs(stack, record, result) || result.Plain == nil || !slices.Equal(result.Plain.Wanted.Keys, to.Keys) {
		return stackstatus.OutputsUnwritten(stack, record, result), nil, nil
	}
	shown := stack.Status.Outputs
	if run.KindOfRecord(record).Reconciles && result.Outputs != nil {
		shown = stackstatus.ShownOutputs(result) // the status is about to have them
	}
	if recorded := stack.Status.OutputsSecret; recorded != nil && recorded.Name != to.Name {
		// Renamed in mid-run: nothing would know of the old Secret any more.
		if left, err = p.DeleteOutputs(ctx, stack, recorded.Name); err != nil {
			return nil, left, err
		}
		stack = stackstatus.WithoutOutputsSecret(stack)
	}
	status, err = p.writeOutputs(ctx, stack, *result.Plain, shown, result.EndedAt)
	return status, left, err
}

// writeOutputs writes the Secret, and returns its status. It returns an error only if a retry
// with the same outputs may help.
func (p Publisher) writeOutputs(ctx context.Context, stack *v1.Stack, plain run.PlainOutputs, shown map[string]apiextensionsv1.JSON,
	now time.Time,
) (*v1.OutputsSecretStatus, error) {
	written, err := p.Outputs(ctx, stack, plain, shown)
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
	return &v1.OutputsSecretStatus{Name: stack.Spec.WriteOutputsToSecret.Name, Digest: written.Digest}, nil
}
