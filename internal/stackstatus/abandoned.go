// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// AbandonedRun is a run that left something open.
type AbandonedRun struct {
	ID     string
	Result *run.Result
}

// Creates returns the creations of unknown outcome. Those that a recovery has forgotten
// count too: no status and no event names them either.
func (a AbandonedRun) Creates() []string {
	return slices.Concat(a.Result.UnknownCreates, a.Result.Forgotten)
}

func AbandonedEvent(stack *v1.Stack, left AbandonedRun) Event {
	e := Event{Type: corev1.EventTypeWarning, Reason: v1.RunInterruptedReason,
		Message: fmt.Sprintf("Run %s ended after its Stack was removed by force", left.ID)}
	if isOlder(stack, left) {
		e.Message = fmt.Sprintf("Run %s ended, but the status of its Stack no longer had its record: a CRD without status.run was probably applied in the meantime", left.ID)
	}
	if left.Result.Interrupted {
		e.Message += ": Pulumi was killed. The stack may still be locked, with operations in flight in its state"
	}
	if urns := left.Creates(); len(urns) > 0 {
		e.Reason = v1.PendingOperationsReason
		e.Message += ". These resources may have been created; look for them at their provider: " + someURNs(urns)
	}
	return e
}

// isOlder reports whether the object was there before the run, so that it was not recreated.
func isOlder(stack *v1.Stack, left AbandonedRun) bool {
	made := stack.CreationTimestamp
	return !made.IsZero() && !made.After(left.Result.StartedAt)
}

// IsSameStack reports whether the run was for the stack of this object, as far as both
// say: a project named by the program, or a backend set by a variable, is unknown before
// the first run.
func IsSameStack(stack *v1.Stack, left AbandonedRun) bool {
	name, err := grammar.ParseStackName(stack.Spec.Stack)
	result, creates := left.Result, left.Creates()
	if err != nil || len(creates) == 0 {
		return false
	}
	if known := stack.Spec.Backend; known != "" && result.Backend != "" && grammar.PublicBackend(known) != result.Backend {
		return false
	}
	project := name.Project
	if project == "" {
		project = result.Project.Name
	}
	return strings.HasPrefix(creates[0], "urn:pulumi:"+name.Stack+"::"+project+"::")
}
