// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"k8s.io/utils/ptr"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// IsReady reports whether the Stack is Ready for its current spec and not being deleted.
func IsReady(stack *v1.Stack) bool {
	return whyNotReady(stack) == ""
}

// whyNotReady returns what keeps the Stack from being ready, as the end of a sentence
// about it, or "". It does not repeat the message of the Stack's own Ready condition:
// each change of that would change the status of all Stacks waiting for it.
func whyNotReady(stack *v1.Stack) string {
	switch {
	case !stack.DeletionTimestamp.IsZero():
		return "is being deleted"
	case stack.Status.ObservedGeneration != stack.Generation, !conditions.IsReady(stack):
		return "is not ready"
	}
	return ""
}

// WhyNot returns why a Stack has to wait for a dependency, as the end of a sentence about
// the dependency, or "". The revision is that of the waiting Stack's program. If both
// programs come from the same source, the dependency must have applied that revision, or
// the Stack would run against the results of an older one.
func WhyNot(stack, dependency *v1.Stack, revision string) string {
	if why := whyNotReady(dependency); why != "" {
		return why
	}
	// A preview applies nothing, so there is no revision to wait for.
	if revision == "" || dependency.Spec.Preview || !sameProgram(stack, dependency) || dependency.Status.LastAppliedRevision == revision {
		return ""
	}
	if dependency.Spec.Suspend {
		return fmt.Sprintf("is suspended and has not applied revision %s", revision)
	}
	return fmt.Sprintf("has not applied revision %s yet", revision)
}

// sameProgram reports whether the programs of both Stacks come from the same source, in
// whatever directory, or are the same Program.
func sameProgram(a, b *v1.Stack) bool {
	if a.Spec.ProgramRef != nil && b.Spec.ProgramRef != nil {
		return a.Namespace == b.Namespace && a.Spec.ProgramRef.Name == b.Spec.ProgramRef.Name
	}
	if a.Spec.FluxSource == nil || b.Spec.FluxSource == nil {
		return false
	}
	x, y := a.Spec.FluxSource.SourceRef, b.Spec.FluxSource.SourceRef
	return x.Kind == y.Kind && x.Name == y.Name && namespaceOf(a, x) == namespaceOf(b, y)
}

func namespaceOf(stack *v1.Stack, ref v1.SourceReference) string {
	if ref.Namespace == "" {
		return stack.Namespace
	}
	return ref.Namespace
}

// leastAge is the shortest succeededWithinDuration that takes effect. Times have whole
// seconds, and it takes a moment to wake the waiting Stack. With a shorter one, the
// prerequisite would be run again and again, and be too old each time.
const leastAge = 10 * time.Second

// WhyUnmet is WhyNot for a prerequisite, which is stale if it succeeded too long ago.
func WhyUnmet(requirement *v1.PrerequisiteRequirement, stack, prerequisite *v1.Stack, revision string, now time.Time) (why string, stale bool) {
	if why := WhyNot(stack, prerequisite, revision); why != "" {
		return why, false
	}
	last := stackstatus.LastRun(prerequisite)
	if last == nil || last.State != v1.UpdateSucceeded {
		return "has not succeeded yet", false
	}
	if requirement == nil || requirement.SucceededWithinDuration == nil {
		return "", false
	}
	within := max(requirement.SucceededWithinDuration.Duration, leastAge)
	at := ptr.Deref(last.EndedAt, prerequisite.CreationTimestamp)
	if now.Sub(at.Time) <= within {
		return "", false
	}
	if prerequisite.Spec.Suspend {
		return fmt.Sprintf("last succeeded more than %s ago and is suspended", within), false
	}
	return fmt.Sprintf("last succeeded more than %s ago and was asked to run again", within), true
}

// Request returns the value of the reconcile request that reruns a stale prerequisite.
// All dependents get the same value, however often they check. It changes only with
// another run, or when the Stack becomes Ready again after not being Ready, because an
// earlier request may have ended in a failure.
func Request(stack *v1.Stack) string {
	request := "prerequisite-after"
	if last := stackstatus.LastRun(stack); last != nil && last.ID != "" {
		request += "-" + last.ID
	}
	if ready := conditions.Get(stack, meta.ReadyCondition); ready != nil {
		request += fmt.Sprintf("-%d", ready.LastTransitionTime.Unix())
	}
	return request
}
