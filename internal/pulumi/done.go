// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Every update collects what it does, and nothing depends on it. So it takes less memory than a plan:
// maxDoneSize bounds the values that are collected, in bytes.
const (
	maxDoneSize = 8 << 20
	// sizeOfChange is about what a change takes in memory beside its texts.
	sizeOfChange = 400
)

// doneSteps collects the steps that the call of the engine does, nil if the run changes no resources.
func (s *session) doneSteps() *plannedSteps {
	if !run.KindOf(s.run.Operation).ChangesResources {
		return nil
	}
	read := s.valueReader()
	read.done = true
	return &plannedSteps{read: read, done: true}
}

// done is what the run has done, as far as its events say, nil if that is nothing.
func (s *session) done() *plan.Plan {
	steps := s.events.planned
	if steps == nil || !steps.done || (s.run.InspectFirst && !s.inspected) {
		return nil
	}
	// The update may have replaced or deleted secrets, and then the state does not have them any more.
	steps.withoutOld = s.events.secrets && !s.learned
	// The names that providers have made up are known by now.
	made := steps.plan(s.mask, nil, !s.known)
	made.Destroy = s.destroys()
	made.Incomplete = s.events.missed || s.events.counts.over
	if made.IsEmpty() {
		return nil
	}
	made = plan.FitDone(made)
	return &made
}

// noteFailed notes a step that has failed: what it was to do, which it may have done in part. A step of
// the same resource that was done before, such as the deletion before a replacement, stays.
func (p *plannedSteps) noteFailed(event *stepEvent) {
	if p == nil || !p.done || !isCounted(event) {
		return
	}
	meta := event.Metadata
	if !isCustom(event) { // it was noted when it began
		p.kept -= p.size(p.steps[meta.URN])
		delete(p.steps, meta.URN)
		delete(p.options, meta.URN)
	}
	op := failedOp(event)
	if op == "" {
		return
	}
	key := meta.URN + "\n" + op // of no other step
	if _, again := p.failed[key]; !again && len(p.failed) >= p.maxSteps() {
		p.leftOut++
		return
	}
	if p.failed == nil {
		p.failed = make(map[string]plannedStep)
	}
	step := plannedStep{Step: plan.Step{Op: op, URN: meta.URN, Type: meta.Type, Provider: withoutProviderID(meta.Provider), Failed: true}}
	step.changes = p.within(&step, p.read.changes(event, op))
	p.kept += p.sizeOf(step.changes) - p.sizeOf(p.failed[key].changes)
	p.failed[key] = step
}

// failedOp is what a step that has failed was to do, "" if that would have changed nothing.
func failedOp(event *stepEvent) string {
	switch event.Metadata.Op {
	case apitype.OpCreate:
		return plan.OpCreate
	case apitype.OpUpdate:
		return plan.OpUpdate
	case apitype.OpCreateReplacement, apitype.OpReplace:
		return plan.OpReplace
	case apitype.OpDelete, apitype.OpDeleteReplaced:
		return plan.OpDelete
	case apitype.OpImport, apitype.OpImportReplacement:
		return plan.OpImport
	}
	return ""
}
