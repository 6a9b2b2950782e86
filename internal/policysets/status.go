// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policysets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/policy/packs"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

const (
	// maxPackText bounds what a condition says of packs, in bytes.
	maxPackText = 1024
	// maxNamedStacks bounds the Stacks that an event names.
	maxNamedStacks = 10
)

// foundPacks are the packs of a PolicySet.
type foundPacks struct {
	// packs that can be used.
	packs []run.PolicyPack
	// problem is why another cannot be, nil if all can. It is invalid if only an edit of the
	// PolicySet helps.
	problem error
	invalid bool
}

// digest is that of all packs, "" if one of them cannot be used.
func (f foundPacks) digest() (string, error) {
	if f.problem != nil {
		return "", nil
	}
	return policy.Digest(f.packs)
}

// markPolicySet writes what was observed to the status.
func markPolicySet(set *v1.PolicySet, found foundPacks, digest string, report policy.Report) {
	status := &set.Status
	status.ObservedGeneration = set.Generation
	if value, ok := meta.ReconcileAnnotationValue(set.Annotations); ok {
		status.SetLastHandledReconcileRequest(stackstatus.RequestToken(value))
	}
	status.Digest, status.Packs = digest, nil
	for _, pack := range found.packs {
		status.Packs = append(status.Packs, v1.PolicyPackStatus{
			Name: pack.Name, Revision: bounded.Text(pack.Revision, maxPackText), Digest: pack.Artifact.Digest,
		})
	}
	status.Stacks, status.Violating, status.Unchecked, status.ViolatingStacks = report.Stacks, report.Violating, report.Unchecked, report.Listed
	markPacks(set, found)
}

// markPacks sets the conditions.
func markPacks(set *v1.PolicySet, found foundPacks) {
	conditions.Delete(set, meta.StalledCondition)
	if found.problem == nil {
		conditions.MarkTrue(set, meta.ReadyCondition, meta.SucceededReason, "%s", readyPacksText(found.packs))
		return
	}
	message := bounded.Text(found.problem.Error(), maxPackText)
	reason := meta.ArtifactFailedReason
	switch config := (*packs.ConfigError)(nil); {
	case found.invalid:
		reason = v1.InvalidSpecReason
		conditions.MarkStalled(set, reason, "%s", message)
	case errors.As(found.problem, &config):
		reason = v1.InputsFailedReason
	}
	conditions.MarkFalse(set, meta.ReadyCondition, reason, "%s", message)
}

func readyPacksText(all []run.PolicyPack) string {
	named := make([]string, 0, len(all))
	for _, pack := range all {
		named = append(named, fmt.Sprintf("%s (%s)", pack.Name, pack.Revision))
	}
	return bounded.Text("Packs are ready: "+strings.Join(named, ", "), maxPackText)
}

// violationEvent returns the event for a change of who violates mandatory policies, false if there
// is none.
func violationEvent(before, after v1.PolicySetStatus) (stackstatus.Event, bool) {
	same := before.Violating == after.Violating && slices.EqualFunc(before.ViolatingStacks, after.ViolatingStacks, sameViolations)
	switch {
	case same:
		return stackstatus.Event{}, false
	case after.Violating == 0:
		return stackstatus.Event{Type: corev1.EventTypeNormal, Reason: v1.PoliciesPassedReason, Message: "No Stack violates mandatory policies any more" + uncheckedText(after)}, true
	}
	event := stackstatus.Event{Type: corev1.EventTypeNormal, Reason: v1.PolicyViolationReason, Message: violatingText(after)}
	if after.Violating > before.Violating || slices.ContainsFunc(after.ViolatingStacks, func(stack v1.ViolatingStack) bool { return isNew(stack, before) }) {
		event.Type = corev1.EventTypeWarning
	}
	return event, true
}

func sameViolations(a, b v1.ViolatingStack) bool {
	return a.Namespace == b.Namespace && a.Name == b.Name && slices.Equal(a.Policies, b.Policies)
}

// isNew reports whether the Stack violates a policy that it did not violate before.
func isNew(stack v1.ViolatingStack, before v1.PolicySetStatus) bool {
	at := slices.IndexFunc(before.ViolatingStacks, func(s v1.ViolatingStack) bool { return s.Namespace == stack.Namespace && s.Name == stack.Name })
	if at < 0 {
		return int(before.Violating) <= len(before.ViolatingStacks) // otherwise it may only not have been listed
	}
	return slices.ContainsFunc(stack.Policies, func(policy string) bool { return !slices.Contains(before.ViolatingStacks[at].Policies, policy) })
}

// violatingText names the Stacks that violate mandatory policies.
func violatingText(status v1.PolicySetStatus) string {
	listed := status.ViolatingStacks[:min(len(status.ViolatingStacks), maxNamedStacks)]
	named := make([]string, 0, len(listed))
	for _, stack := range listed {
		named = append(named, fmt.Sprintf("%s/%s (%s)", stack.Namespace, stack.Name, bounded.Text(strings.Join(stack.Policies, ", "), maxPackText/4)))
	}
	violate := "violate"
	if status.Violating == 1 {
		violate = "violates"
	}
	text := fmt.Sprintf("%d of %s %s mandatory policies: %s", status.Violating, plural.Of(int(status.Stacks), "Stack", "Stacks"), violate, strings.Join(named, ", "))
	if more := int(status.Violating) - len(listed); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + uncheckedText(status)
}

func uncheckedText(status v1.PolicySetStatus) string {
	if status.Unchecked == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not checked with the current packs yet", plural.Of(int(status.Unchecked), "Stack is", "Stacks are"))
}
