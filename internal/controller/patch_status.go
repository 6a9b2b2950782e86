// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// patchStatus applies the change to the status, and writes it with optimistic locking if
// it differs. The Stack is then what the API server holds. It returns a notKeptError if
// that lacks what a later controller has to know of a run.
func (r *StackReconciler) patchStatus(ctx context.Context, stack *v1.Stack, change func()) error {
	before := stack.DeepCopy()
	change()
	if equality.Semantic.DeepEqual(before.Status, stack.Status) {
		return nil
	}
	stackstatus.KeepLastRun(stack)
	stackstatus.SetTransitionTimes(stack, r.Now())
	patch, err := statusPatch(before, stack)
	if err != nil {
		return err
	}
	if stackstatus.IsKnownNotKept(before) && before.Status.Run == nil && stack.Status.Run != nil {
		// The conditions would announce each attempt as a run. A dry run that fails
		// proves nothing: a webhook may take none.
		tried, err := r.sendStatus(ctx, stack, patch, client.DryRunAll)
		if err == nil {
			err = checkKept(before, stack, tried)
		}
		if notKept := (*notKeptError)(nil); errors.As(err, &notKept) {
			*stack = *before
			return notKept
		}
	}
	kept, err := r.sendStatus(ctx, stack, patch)
	if err != nil {
		return err
	}
	err = checkKept(before, stack, kept)
	*stack = *kept
	return err
}

// sendStatus sends the patch, and returns the answer. It is decoded into an empty object:
// into the Stack, it would leave what the API server has dropped.
func (r *StackReconciler) sendStatus(ctx context.Context, stack *v1.Stack, patch client.Patch, options ...client.SubResourcePatchOption) (*v1.Stack, error) {
	answer := &v1.Stack{TypeMeta: stack.TypeMeta, ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: stack.Name}}
	if err := r.Status().Patch(ctx, answer, patch, append(options, FieldOwner)...); err != nil {
		return nil, fmt.Errorf("failed to write the status: %w", err)
	}
	answer.TypeMeta = stack.TypeMeta
	return answer, nil
}

// statusPatch returns the patch that changes the status. It is a merge patch, unless there
// are other outputs and one has a null, which a merge patch takes for a field to remove.
func statusPatch(before, stack *v1.Stack) (client.Patch, error) {
	outputs := stack.Status.Outputs
	if !mayHaveNull(outputs) || equality.Semantic.DeepEqual(before.Status.Outputs, outputs) {
		merge := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		patch, err := merge.Data(stack)
		if err != nil {
			return nil, fmt.Errorf("failed to encode the status: %w", err)
		}
		return client.RawPatch(merge.Type(), patch), nil
	}
	// A replaced resource version locks as it does in a merge patch. A test of it would
	// fail with another error than a conflict.
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": before.ResourceVersion},
		{"op": "add", "path": "/status", "value": stack.Status},
	})
	if err != nil {
		return nil, fmt.Errorf("failed to encode the status: %w", err)
	}
	return client.RawPatch(types.JSONPatchType, patch), nil
}

// mayHaveNull reports whether an output has a null, or a text with that word.
func mayHaveNull(outputs map[string]apiextensionsv1.JSON) bool {
	for _, output := range outputs {
		if bytes.Contains(output.Raw, []byte("null")) {
			return true
		}
	}
	return false
}
