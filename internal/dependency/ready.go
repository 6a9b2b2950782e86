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
)

// IsReady tells whether the Stack is Ready at the spec that it has now, and is
// to stay.
func IsReady(stack *v1.Stack) bool {
	return whyNotReady(stack) == ""
}

// whyNotReady says what keeps the Stack from being ready, as the end of a
// sentence about it. It does not say why the Stack is not Ready: the Stack itself
// does, and each change of that would be a change of all that wait for it.
func whyNotReady(stack *v1.Stack) string {
	switch {
	case !stack.DeletionTimestamp.IsZero():
		return "is being deleted"
	case stack.Status.ObservedGeneration != stack.Generation, !conditions.IsReady(stack):
		return "is not ready"
	}
	return ""
}

// WhyNot says why a Stack has to wait for the one that it depends on, as the end
// of a sentence about that one, or returns nothing if it has not to. The revision
// is that of the program of the Stack that waits. If both have their program from
// the same place, the dependency must have applied that revision, or what waits
// would be run with what belongs to the revision before.
func WhyNot(stack, dependency *v1.Stack, revision string) string {
	if why := whyNotReady(dependency); why != "" {
		return why
	}
	// A preview applies nothing, so nothing of it is to be waited for.
	if revision == "" || dependency.Spec.Preview || !sameProgram(stack, dependency) || dependency.Status.LastAppliedRevision == revision {
		return ""
	}
	if dependency.Spec.Suspend {
		return fmt.Sprintf("is suspended and has not applied revision %s", revision)
	}
	return fmt.Sprintf("has not applied revision %s yet", revision)
}

// sameProgram tells whether both Stacks have their program from the same source,
// whatever the directory, or from the same Program.
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

// leastAge bounds from below how new the success of a prerequisite can be asked
// to be. The time of it has whole seconds, and the one that waits for it needs a
// moment to be woken: with less, the prerequisite would be run again and again,
// and each time be too old by then.
const leastAge = 10 * time.Second

// WhyUnmet says why a prerequisite is not met, as WhyNot. It is stale if it has
// succeeded, but too long ago.
func WhyUnmet(requirement *v1.PrerequisiteRequirement, stack *v1.Stack, now time.Time) (why string, stale bool) {
	if why := whyNotReady(stack); why != "" {
		return why, false
	}
	last := stack.Status.LastUpdate
	if last == nil || last.State != v1.UpdateSucceeded {
		return "has not succeeded yet", false
	}
	if requirement == nil || requirement.SucceededWithinDuration == nil {
		return "", false
	}
	within := max(requirement.SucceededWithinDuration.Duration, leastAge)
	at := ptr.Deref(last.LastResyncTime, stack.CreationTimestamp)
	if now.Sub(at.Time) <= within {
		return "", false
	}
	if stack.Spec.Suspend {
		return fmt.Sprintf("last succeeded more than %s ago, and is suspended", within), false
	}
	return fmt.Sprintf("last succeeded more than %s ago, and was asked to run again", within), true
}

// Request is the value of the reconcile request that has a stale prerequisite
// run again. It is the same for all that need it, and however often they look:
// another one comes only from another run, or after the Stack has been something
// else than Ready in the meantime, where a request may have been answered with
// a failure.
func Request(stack *v1.Stack) string {
	request := "prerequisite-after"
	if last := stack.Status.LastUpdate; last != nil && last.Name != "" {
		request += "-" + last.Name
	}
	if ready := conditions.Get(stack, meta.ReadyCondition); ready != nil {
		request += fmt.Sprintf("-%d", ready.LastTransitionTime.Unix())
	}
	return request
}
