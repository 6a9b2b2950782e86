// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Operation is what a run does.
type Operation = v1.Operation

const (
	// Update makes reality match the program: pulumi up.
	Update = v1.OperationUpdate
	// Destroy deletes all that the stack manages, and then the stack itself: pulumi
	// destroy, pulumi stack rm. It works from the state alone.
	Destroy = v1.OperationDestroy
	// Recover finds and repairs what an interrupted run left behind: live processes, the
	// lock of the stack, and operations in flight in its state.
	Recover = v1.OperationRecover
	// Preview finds out what an Update would do, without changes: pulumi preview.
	Preview = v1.OperationPreview
	// ReadOutputs reads the outputs of the stack, secrets in plain text, without changes:
	// pulumi stack output.
	ReadOutputs = v1.OperationOutputs
	// Propose makes a plan of what an Update would do, for approval: pulumi preview. Unlike a
	// Preview, it creates a stack that is missing.
	Propose = v1.OperationPropose
	// ProposeDestroy makes a plan of what a Destroy would do, for approval: pulumi destroy
	// --preview-only.
	ProposeDestroy = v1.OperationProposeDestroy
	// CheckDrift finds out what was changed outside of Pulumi, without changes: pulumi refresh
	// --preview-only.
	CheckDrift = v1.OperationCheckDrift
	// CheckPolicies finds out which policies an Update would violate, without changes: pulumi
	// preview.
	CheckPolicies = v1.OperationCheckPolicies
)

// ProgramUse is whether a run runs the program.
type ProgramUse string

const (
	// ProgramNever is a run that works from the state alone.
	ProgramNever ProgramUse = "Never"
	// ProgramIfAsked is a run that works from the state, unless spec.runProgram is set.
	ProgramIfAsked ProgramUse = "IfAsked"
	// ProgramAlways is a run of the program, with its config.
	ProgramAlways ProgramUse = "Always"
)

// PolicyUse is which policy packs a run has.
type PolicyUse string

const (
	// PoliciesNever is a run without packs: Pulumi checks none in a refresh or a destroy.
	PoliciesNever PolicyUse = "Never"
	// PoliciesEnforced is a run with the packs that are enforced, so that a violation fails it.
	PoliciesEnforced PolicyUse = "Enforced"
	// PoliciesAll is a run with all packs, to find out what is violated.
	PoliciesAll PolicyUse = "All"
)

// Kind describes a kind of run: what it does, and what follows from that for its Stack. It is
// the only place that does: whatever depends on the kind asks for the property that it needs.
type Kind struct {
	// Operation of the run. OnRequest tells a preview that someone has asked for from one
	// that spec.preview asks for.
	// OfDrift tells a proposal to undo drift from one of what is due.
	Operation Operation
	OnRequest bool
	OfDrift   bool

	// Title begins a message about the run.
	Title string
	// FailedReason is the reason if Pulumi or the program failed.
	FailedReason string
	// UpdateType is the kind in the terms of the Pulumi operator.
	UpdateType v1.UpdateType

	// Program is whether the run runs the program. Without it, new inputs are no reason to
	// run again.
	Program ProgramUse
	// Policies is which policy packs the run has.
	Policies PolicyUse
	// ChangesState reports whether the run may change the state of the stack. If it is
	// killed, the stack is to be recovered; when it ends, what is known of the stack is new.
	ChangesState bool
	// CreatesStack reports whether the run creates a stack that is missing. If it is killed then,
	// the lock of Pulumi remains, which is to be recovered from too.
	CreatesStack bool
	// ChangesResources reports whether the run changes resources. The changes of a preview
	// would be made, and those of a recovery are found.
	ChangesResources bool
	// Previews reports whether the run only finds out what an Update or a Destroy would change.
	Previews bool
	// Proposes reports whether it makes a plan that can be approved.
	Proposes bool
	// InspectsFirst reports whether the run first settles what someone else may have left
	// in flight, if no run has found the stack yet. A preview cannot create anything twice.
	InspectsFirst bool
	// ReadsOutputs reports whether the run returns the outputs in plain text.
	ReadsOutputs bool

	// Reconciles reports whether the run is a reconcile of the Stack. The conditions, the
	// history and the last run are about no other.
	Reconciles bool
	// InConditions reports whether the conditions say that the run is in flight.
	InConditions bool
	// RunsInputs reports whether the run is what the spec asks for, and so answers a
	// request. A recovery only comes before it.
	RunsInputs bool
	// NeedsFinalizer reports whether the Stack must not be deleted unseen from here on.
	NeedsFinalizer bool
	// InBackground reports whether nothing waits for the run: it has slots of its own, and is
	// stopped if the Stack needs another run.
	InBackground bool
	// Cancellable reports whether a person can cancel the run. Reading outputs is short,
	// and nobody could start it again by hand.
	Cancellable bool
	// InAllVersions reports whether all versions know the operation, which is so for no new one:
	// pods, and the controller after a rollback, may be of a version that takes an operation that
	// it does not know for an Update.
	InAllVersions bool
}

// Kinds returns all kinds of runs.
func Kinds() []Kind {
	return []Kind{
		{
			Operation: Update, Title: "Update", FailedReason: v1.UpdateFailedReason, UpdateType: v1.UpdateTypeUp,
			Program: ProgramAlways, Policies: PoliciesEnforced, ChangesState: true, CreatesStack: true, ChangesResources: true, InspectsFirst: true, ReadsOutputs: true,
			Reconciles: true, InConditions: true, RunsInputs: true, NeedsFinalizer: true, Cancellable: true, InAllVersions: true,
		},
		{
			Operation: Destroy, Title: "Destroy", FailedReason: v1.DestroyFailedReason, UpdateType: v1.UpdateTypeDestroy,
			Program: ProgramIfAsked, Policies: PoliciesNever, ChangesState: true, ChangesResources: true, InspectsFirst: true,
			Reconciles: true, InConditions: true, RunsInputs: true, NeedsFinalizer: true, Cancellable: true, InAllVersions: true,
		},
		{
			Operation: Recover, Title: "Recovery", FailedReason: v1.RecoveryFailedReason, UpdateType: v1.UpdateTypeRefresh,
			Program: ProgramIfAsked, Policies: PoliciesNever, ChangesState: true, InspectsFirst: true,
			Reconciles: true, InConditions: true, NeedsFinalizer: true, Cancellable: true, InAllVersions: true,
		},
		{
			Operation: Preview, Title: "Preview", FailedReason: v1.PreviewFailedReason, UpdateType: v1.UpdateTypePreview,
			Program: ProgramAlways, Policies: PoliciesEnforced, Previews: true,
			Reconciles: true, InConditions: true, RunsInputs: true, NeedsFinalizer: true, Cancellable: true, InAllVersions: true,
		},
		{
			Operation: Preview, OnRequest: true, Title: "Preview", FailedReason: v1.PreviewFailedReason, UpdateType: v1.UpdateTypePreview,
			Program: ProgramAlways, Policies: PoliciesEnforced, Previews: true,
			Cancellable: true, InAllVersions: true,
		},
		{
			Operation: Propose, Title: "Proposal", FailedReason: v1.PreviewFailedReason, UpdateType: v1.UpdateTypePreview,
			Program: ProgramAlways, Policies: PoliciesEnforced, Previews: true, Proposes: true, CreatesStack: true,
			Reconciles: true, InConditions: true, RunsInputs: true, NeedsFinalizer: true, Cancellable: true,
		},
		{
			Operation: Propose, OfDrift: true, Title: "Proposal to undo drift", FailedReason: v1.PreviewFailedReason, UpdateType: v1.UpdateTypePreview,
			Program: ProgramAlways, Policies: PoliciesEnforced, Previews: true, Proposes: true,
			Cancellable: true,
		},
		{
			Operation: ProposeDestroy, Title: "Proposal of the destroy", FailedReason: v1.PreviewFailedReason, UpdateType: v1.UpdateTypePreview,
			Program: ProgramIfAsked, Policies: PoliciesNever, Previews: true, Proposes: true,
			Reconciles: true, InConditions: true, RunsInputs: true, NeedsFinalizer: true, Cancellable: true,
		},
		{
			Operation: ReadOutputs, Title: "Reading of the outputs", FailedReason: v1.OutputsFailedReason, UpdateType: v1.UpdateTypeUp,
			Program: ProgramNever, Policies: PoliciesNever, InspectsFirst: true, ReadsOutputs: true,
			InConditions: true, NeedsFinalizer: true, InAllVersions: true,
		},
		{
			Operation: CheckPolicies, Title: "Check of policies", FailedReason: v1.PolicyCheckFailedReason, UpdateType: v1.UpdateTypePreview,
			Program: ProgramAlways, Policies: PoliciesAll, Previews: true,
			InBackground: true, Cancellable: true,
		},
		{
			Operation: CheckDrift, Title: "Check for drift", FailedReason: v1.DriftCheckFailedReason, UpdateType: v1.UpdateTypeRefresh,
			Program: ProgramIfAsked, Policies: PoliciesNever,
			InBackground: true, Cancellable: true,
		},
	}
}

// IsKnown reports whether this version knows the operation.
func IsKnown(operation Operation) bool {
	return slices.ContainsFunc(Kinds(), func(kind Kind) bool { return kind.Operation == operation })
}

// KindOf returns the kind of a run that no request for a preview has started.
func KindOf(operation Operation) Kind { return kindOf(operation, false, false) }

// ProposalOf returns the operation that makes a plan of what this one would do.
func ProposalOf(operation Operation) Operation {
	if operation == Destroy {
		return ProposeDestroy
	}
	return Propose
}

// KindFor returns the kind of a run for the drift with that digest, or for none if it is "".
func KindFor(operation Operation, drift string) Kind {
	return kindOf(operation, false, drift != "" && operation == Propose)
}

// KindOfRecord returns the kind of a recorded run.
func KindOfRecord(record *v1.RunStatus) Kind {
	if record.PreviewRequest != "" {
		return kindOf(record.Operation, true, false)
	}
	return KindFor(record.Operation, record.Drift)
}

// PreviewOnRequest returns the kind of a preview that someone has asked for.
func PreviewOnRequest() Kind { return kindOf(Preview, true, false) }

// OfUpdateType returns the kind of a run that the status describes in the terms of the Pulumi
// operator. The operator v1 has none: all its runs were updates.
func OfUpdateType(updateType v1.UpdateType) Kind {
	for _, kind := range Kinds() {
		if kind.UpdateType == updateType {
			return kind
		}
	}
	return KindOf(Update)
}

// kindOf returns the row of the kind. A record may be of a later version of this controller,
// and have a kind that this one does not know: whatever it did may have to be recovered from.
func kindOf(operation Operation, onRequest, ofDrift bool) Kind {
	for _, kind := range Kinds() {
		if kind.Operation == operation && kind.OnRequest == onRequest && kind.OfDrift == ofDrift {
			return kind
		}
	}
	unknown := kindOf(Update, false, false)
	unknown.Operation, unknown.OnRequest, unknown.InAllVersions = operation, onRequest, false
	return unknown
}
