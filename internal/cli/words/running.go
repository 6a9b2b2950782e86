// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Continues says what happens next to a Stack with a run in flight: what the run does, and what follows it. An explanation
// cannot say so, as only the process that has the run knows where it stands.
func Continues(stack *v1.Stack) string {
	record := stack.Status.Run
	kind := run.KindOfRecord(record)
	what := "The " + strings.ToLower(kind.Title[:1]) + kind.Title[1:]
	switch record.Cancel {
	case "":
		what += " continues."
	case v1.CancelNow:
		what += " is being cancelled, without waiting for its operations in flight."
	default:
		what += " is being cancelled: its operations in flight end, and no others start."
	}
	return what + " " + follows(stack, record, kind)
}

// follows says what follows a run.
func follows(stack *v1.Stack, record *v1.RunStatus, kind run.Kind) string {
	request, asked := meta.ReconcileAnnotationValue(stack.Annotations)
	deleted := !stack.DeletionTimestamp.IsZero()
	switch {
	case stack.Spec.Suspend:
		return "After it, nothing runs until the Stack is resumed."
	case deleted && kind.Operation == run.Destroy:
		return "Once it has succeeded, the Stack is gone."
	case deleted && kind.Operation == run.ProposeDestroy:
		return "After it, the destroy waits for an approval."
	case deleted && stack.Spec.DestroyOnFinalize:
		return "After it, the stack is destroyed, as the Stack is being deleted."
	case deleted:
		return "After it, the Stack is gone, and its resources stay."
	case kind.Operation == run.Recover:
		return "After it, the controller runs what is due."
	case kind.Reconciles && stack.Generation > record.Generation:
		return "After it, the controller reconciles the spec, which has changed since."
	case asked && request != record.ReconcileRequest && request != stack.Status.LastHandledReconcileAt:
		return "After it, the controller reconciles the Stack again, as was requested."
	case kind.Proposes:
		return "After it, the changes that need an approval wait for one."
	case record.Cancel != "" && kind.Reconciles:
		return "It starts again only with a new revision, an edit or a reconcile request."
	}
	return fmt.Sprintf("After it, the Stack is reconciled every %s, and when its source, its spec or an input changes.", stack.GetInterval())
}
