// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// approvedSteps are the steps of the plan that is approved. A run that Pulumi does not hold to the
// plan is watched: it is stopped once the engine has started any other step, such as the deletion of
// a resource that another user has added after the plan was compared. A nil approvedSteps has no
// steps and approves all.
type approvedSteps struct {
	// ops are the operations by URN.
	ops map[string][]apitype.OpType
	// over is set if there were too many resources: no run is started then.
	over bool
}

func (a *approvedSteps) isOver() bool { return a != nil && a.over }

// note adds a step of the preview that the plan is made of.
func (a *approvedSteps) note(event *stepEvent) {
	if a == nil || !changesResource(event) {
		return
	}
	meta := event.Metadata
	ops, known := a.ops[meta.URN]
	switch {
	case !known && len(a.ops) >= maxKeptSteps:
		a.over = true
		return
	case a.ops == nil:
		a.ops = map[string][]apitype.OpType{}
	}
	if !slices.Contains(ops, meta.Op) {
		a.ops[meta.URN] = append(ops, meta.Op)
	}
}

// approve reports whether the plan has the step. By the rule of Pulumi's own plans, an update is
// one in place of a replacement too: the values that are known by then may not need that.
func (a *approvedSteps) approve(event *stepEvent) bool {
	if a == nil || !changesResource(event) {
		return true
	}
	ops, op := a.ops[event.Metadata.URN], event.Metadata.Op
	return slices.Contains(ops, op) || (op == apitype.OpUpdate && slices.Contains(ops, apitype.OpReplace))
}

// changesResource reports whether the step does anything outside of the state. A component is
// nothing outside of it.
func changesResource(event *stepEvent) bool {
	return !changesNothing(event.Metadata.Op) && isCustom(event)
}

// changesNothing reports whether an operation does nothing outside of the state.
func changesNothing(op apitype.OpType) bool {
	switch op {
	case apitype.OpSame, apitype.OpRead, apitype.OpReadReplacement, apitype.OpReadDiscard, apitype.OpDiscardReplaced,
		apitype.OpRefresh, apitype.OpRemovePendingReplace:
		return true
	}
	return false
}

// refusal is why a run that is watched has to be stopped, nil if it has not: a step that is not approved,
// or an event that could not be read, as it may be such a step.
func (e *events) refusal() error {
	switch {
	case e.approved == nil:
		return nil
	case e.notApproved != "":
		return errNotApproved(e.notApproved)
	case e.missed:
		return errNotWatched
	}
	return nil
}

// keepRefusal keeps why a run that is watched is being stopped since the preview that came first.
func (e *events) keepRefusal(was events) {
	if was.refusal() != nil {
		e.notApproved, e.missed = was.notApproved, e.missed || was.missed
	}
}

// errNotWatched is why a run has failed whose steps are not all known. It may have done everything before
// that was noticed.
var errNotWatched = errors.New("the events of Pulumi could not be read, so it is not known whether the run has only done what is in the approved plan: " +
	"see the log for errors of reading them, and whether the disk of the run was full. What is left to do is proposed again")

// errNotApproved is why the run was stopped at a step that is not approved.
func errNotApproved(step string) error {
	return fmt.Errorf("the run was stopped, because Pulumi started a step that the approved plan does not have: %s. "+
		"Another user may have changed the stack after the plan was compared, or the program has done something else than in the preview. "+
		"What is left to do is proposed again", step)
}
