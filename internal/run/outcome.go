// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Outcome is how a run ended.
type Outcome string

const (
	// Succeeded is a run that did all it was asked to.
	Succeeded Outcome = "Succeeded"
	// Failed is a run in which Pulumi or the program failed.
	Failed Outcome = "Failed"
	// Locked is a run that did nothing because someone else held the lock of the stack.
	Locked Outcome = "Locked"
	// Drifted is a run that did nothing because resources were changed outside of Pulumi,
	// and no such change was expected.
	Drifted Outcome = "Drifted"
	// BackendUnavailable is a run that did nothing because its backend could not be
	// reached, or cannot serve now. It may be transient.
	BackendUnavailable Outcome = "BackendUnavailable"
	// RegistryUnavailable is a run that touched no resource because a plugin, or a
	// dependency of the program, could not be downloaded. It may be transient.
	RegistryUnavailable Outcome = "RegistryUnavailable"
	// ArtifactFailed is a run whose program could not be fetched: out of reach, corrupt, too
	// big, or without the requested directory.
	ArtifactFailed Outcome = "ArtifactFailed"
	// ArtifactGone is a run that began nothing because its artifact is deleted. Its source
	// has a newer one, or will have.
	ArtifactGone Outcome = "ArtifactGone"
	// WorkspaceFailed is a run that could not be prepared: no space, or a directory that
	// is not writable.
	WorkspaceFailed Outcome = "WorkspaceFailed"
	// AccountFailed is a run that did nothing because it got no token for its service
	// account. It may be transient.
	AccountFailed Outcome = "AccountFailed"
	// TimedOut is a run that was cancelled at its timeout.
	TimedOut Outcome = "TimedOut"
	// Cancelled is a run that was cancelled for any other cause, such as the shutdown of
	// the controller.
	Cancelled Outcome = "Cancelled"
	// PlanChanged is a run that changed nothing because its plan is another one than the one
	// that is approved. Result.Plan has it.
	PlanChanged Outcome = "PlanChanged"
	// PolicyViolation is a run that was stopped because a mandatory policy is violated, as a rule
	// before it changed anything: values that are only known in mid-update are checked then.
	PolicyViolation Outcome = "PolicyViolation"
	// PolicyPackFailed is a run that was stopped because one of its policy packs could not be
	// fetched, installed, configured or started, as a rule before it changed anything, or died. It
	// may be transient.
	PolicyPackFailed Outcome = "PolicyPackFailed"
	// InvalidSpec is a run that did nothing because the API server rejects its pod as
	// invalid: spec.workspaceTemplate asks for something that does not exist.
	InvalidSpec Outcome = "InvalidSpec"
	// PodFailed is a run whose pod could not be started, or died before the end. With
	// Result.Interrupted, Pulumi may have been at work.
	PodFailed Outcome = "PodFailed"
)

// Retry is a class of delays before the next attempt.
type Retry string

const (
	// RetryAtInterval is after spec.retryInterval: Pulumi, or the program, has failed.
	RetryAtInterval Retry = "AtInterval"
	// RetryAtOnce is for what did not fail.
	RetryAtOnce Retry = "AtOnce"
	// RetrySoon is for a run that could not start, for a cause that may be transient. It
	// did nothing that would be done twice.
	RetrySoon Retry = "Soon"
	// RetryConflict is for a lock: soon, if spec.retryOnUpdateConflict is set.
	RetryConflict Retry = "Conflict"
	// RetryAfterRecovery is for a run that was interrupted: soon, from the second time on.
	RetryAfterRecovery Retry = "AfterRecovery"
	// RetryAfterEdit is for what only an edit can fix. It is tried again after
	// spec.retryInterval all the same: an edit of something else may have done so.
	RetryAfterEdit Retry = "AfterEdit"
)

// Counted is whether the Changes of a result count the resources of the stack.
type Counted string

const (
	// CountedAlways is a run that got as far as its resources, however it ended.
	CountedAlways Counted = "Always"
	// CountedIfAny is a run that may have been killed before it did.
	CountedIfAny Counted = "IfAny"
	// CountedNever is a run that ended before it could change anything.
	CountedNever Counted = "Never"
)

// Effect describes an outcome: what follows from it for the Stack. It is the only place that
// does.
type Effect struct {
	Outcome Outcome
	// Reason of the conditions and the event. Empty is that of the kind of run.
	Reason string
	// Retry is when the run is tried again.
	Retry Retry
	// Counted is whether the result counts the resources of the stack.
	Counted Counted
	// Fails reports whether it counts as a failure of the Stack.
	Fails bool
}

// Effects returns the effects of all outcomes.
func Effects() []Effect {
	return []Effect{
		{Succeeded, meta.ReconciliationSucceededReason, RetryAtOnce, CountedAlways, false},
		{Failed, "", RetryAtInterval, CountedAlways, true},
		{Locked, v1.StackLockedReason, RetryConflict, CountedNever, true},
		{Drifted, v1.RefreshFailedReason, RetryAtInterval, CountedNever, true},
		{BackendUnavailable, v1.BackendUnavailableReason, RetrySoon, CountedNever, true},
		{RegistryUnavailable, v1.RegistryUnavailableReason, RetrySoon, CountedAlways, true},
		{ArtifactFailed, meta.ArtifactFailedReason, RetrySoon, CountedNever, true}, // the source, or its server, is about to offer another
		{ArtifactGone, v1.ArtifactGoneReason, RetrySoon, CountedNever, true},       // so it is here
		{WorkspaceFailed, v1.WorkspaceFailedReason, RetryAtInterval, CountedAlways, true},
		{AccountFailed, v1.ServiceAccountFailedReason, RetrySoon, CountedNever, true},
		{TimedOut, "", RetryAtInterval, CountedAlways, true},
		{Cancelled, v1.RunCancelledReason, RetryAtOnce, CountedAlways, false},
		{PlanChanged, v1.ApprovalRequiredReason, RetryAtOnce, CountedNever, false},
		{PolicyViolation, v1.PolicyViolationReason, RetryAtInterval, CountedAlways, true},
		{PolicyPackFailed, v1.PolicyPackFailedReason, RetrySoon, CountedAlways, true},
		{InvalidSpec, v1.InvalidSpecReason, RetryAfterEdit, CountedNever, true},
		{PodFailed, v1.PodFailedReason, RetrySoon, CountedIfAny, true},
	}
}

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	var all []Outcome
	for _, effect := range Effects() {
		all = append(all, effect.Outcome)
	}
	return all
}

// Effect returns what follows from the outcome. An outcome without a row is a failure: a pod
// may have another version of this controller.
func (o Outcome) Effect() Effect {
	for _, effect := range Effects() {
		if effect.Outcome == o {
			return effect
		}
	}
	return Effect{Outcome: o, Retry: RetryAtInterval, Counted: CountedIfAny, Fails: true}
}

// Reason returns the reason of the conditions for a run of this kind that ended so.
func (o Outcome) Reason(kind Kind) string {
	if reason := o.Effect().Reason; reason != "" {
		return reason
	}
	return kind.FailedReason
}

// RetryOf returns when a run is tried again whose end is known by its reason alone.
func RetryOf(reason string) Retry {
	if reason == v1.RunInterruptedReason {
		return RetryAfterRecovery // nobody saw its end, so that it has no outcome
	}
	for _, effect := range Effects() {
		if effect.Reason == reason && reason != "" {
			return effect.Retry
		}
	}
	return RetryAtInterval
}
