// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"cmp"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// absorbFacts records what a run has found out about the stack. A preview is skipped: its
// Changes were not made, and knowing the project does not mean that this Stack ever
// created anything to destroy.
func absorbFacts(stack *v1.Stack, record *v1.RunStatus, result *run.Result) {
	absorbProject(stack, result)
	if result.Outputs != nil || result.OutputsMissed {
		stack.Status.Outputs = ShownOutputs(result)
	}
	switch {
	case record.Operation == v1.OperationRecover || !hasCounted(stack, result):
	case result.Changes.Unknown:
		stack.Status.Resources = nil
	default:
		stack.Status.Resources = &v1.ResourcesStatus{Total: int32(total(result.Changes)), ResourceChanges: Changes(result.Changes)}
	}
}

// absorbProject records the project and the backend of the stack. A run that did not get
// as far as finding the stack keeps the known backend.
func absorbProject(stack *v1.Stack, result *run.Result) {
	if result.Backend != "" || result.Outcome == run.Succeeded {
		recordFound(stack)
	}
	if result.Project.Name == "" {
		return
	}
	info := &v1.ProjectInfo{Name: result.Project.Name, Runtime: result.Project.Runtime, Backend: result.Backend}
	if before := stack.Status.ProjectInfo; before != nil {
		info.Backend = cmp.Or(info.Backend, before.Backend)
		info.UpdatedElsewhere, info.LockedElsewhere = before.UpdatedElsewhere, before.LockedElsewhere
	}
	recordLock(info, result)
	stack.Status.ProjectInfo = info
}

// hasCounted is false for a run that did not get as far as counting resources. The
// previous count still holds.
func hasCounted(stack *v1.Stack, result *run.Result) bool {
	if result.Outcome != run.Succeeded && result.Changes == (run.Changes{}) && stack.Status.Resources != nil {
		return false
	}
	switch result.Outcome.Effect().Counted {
	case run.CountedIfAny:
		return result.Changes != (run.Changes{})
	case run.CountedNever:
		return false
	}
	return true
}

// unknownCreates returns the creations of unknown outcome after a run. Only a recovery,
// which knows those of earlier runs, can remove any.
func unknownCreates(stack *v1.Stack, record *v1.RunStatus, result *run.Result) []string {
	if record.Operation == v1.OperationRecover && result.Outcome == run.Succeeded {
		return result.UnknownCreates
	}
	return unionOf(stack.Status.UnknownCreates, result.UnknownCreates)
}

func Changes(c run.Changes) v1.ResourceChanges {
	return v1.ResourceChanges{
		Created:  int32(c.Created),
		Updated:  int32(c.Updated),
		Deleted:  int32(c.Deleted),
		Replaced: int32(c.Replaced),
		Retained: int32(c.Retained),
		Same:     int32(c.Same),
	}
}

// total returns how many resources there are after the changes.
func total(c run.Changes) int {
	return c.Created + c.Updated + c.Replaced + c.Same
}
