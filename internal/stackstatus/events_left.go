// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
)

// maxForgotten bounds the names in an event, whose message is limited to 1024 bytes.
const maxForgotten = 700

// ForgottenEvent names the creations of unknown outcome that were forgotten, as the spec
// demands. Nothing else in the cluster names them any more.
func ForgottenEvent(urns []string) Event {
	return Event{
		Type:   corev1.EventTypeWarning,
		Reason: v1.PendingOperationsReason,
		Message: fmt.Sprintf("Removed these creations of unknown outcome from the state, because spec.pendingCreates is Clear. Resources that do "+
			"exist are not part of the stack; look for them at their provider: %s", someURNs(urns)),
	}
}

// someURNs lists as many URNs as fit into an event.
func someURNs(urns []string) string {
	var named strings.Builder
	for i, urn := range urns {
		if named.Len()+len(urn) > maxForgotten {
			fmt.Fprintf(&named, " and %d more, listed in the log", len(urns)-i)
			break
		}
		if i > 0 {
			named.WriteString(", ")
		}
		named.WriteString(urn)
	}
	return named.String()
}

// wayOut says how to release a deleted Stack that only waits for a recovery.
func wayOut(stack *v1.Stack) string {
	if stack.DeletionTimestamp.IsZero() || stack.Spec.DestroyOnFinalize {
		return ""
	}
	return ". To delete this Stack without recovering from the interrupted run, set spec.suspend to true"
}

// LeftEvents announce what a released Stack leaves behind.
func LeftEvents(stack *v1.Stack, seen decide.Observation) []Event {
	var left []Event
	if lost := stack.Status.Interrupted; len(lost) > 0 {
		why := ""
		if seen.Problem != nil {
			why = ", because a recovery was not possible: " + seen.Problem.Message
		} else if seen.NamespaceEnds {
			why = ", because a recovery was not possible: the namespace is being deleted"
		} else if last := LastRun(stack); last != nil && last.Operation == v1.OperationRecover && last.State == v1.UpdateFailed {
			// It names what is open, where the status does not.
			why = "; the last recovery failed: " + strings.TrimSuffix(last.Message, wayOut(stack))
		}
		left = append(left, Event{Type: corev1.EventTypeWarning, Reason: v1.RunInterruptedReason, Message: fmt.Sprintf(
			"The Stack was released without a recovery from run %s, which was interrupted: stack %s may still be "+
				"locked, with operations in flight in its state%s", lost[0].ID, stack.Spec.Stack, why)})
	}
	if urns := stack.Status.UnknownCreates; len(urns) > 0 {
		left = append(left, Event{Type: corev1.EventTypeWarning, Reason: v1.PendingOperationsReason, Message: "The Stack was released. " +
			"These resources may have been created; look for them at their provider: " + someURNs(urns)})
	}
	return left
}
