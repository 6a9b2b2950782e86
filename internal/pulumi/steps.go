// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

const (
	// maxKeptSteps bounds the steps of a preview that are kept until its end, and
	// maxKeptValues the bytes of their values.
	maxKeptSteps  = 100_000
	maxKeptValues = 64 << 20
)

// plannedSteps collects the steps of a preview, or those that an update or a destroy has done, one
// per resource, and the outputs. Reads are left out: every preview of a program with a lookup has
// them. A nil plannedSteps ignores everything.
//
// The engine reports steps in any order, and the same change must be the same plan. So
// whether something is shown depends on no order: values are masked at the end, once all
// secrets are known, and if they are together too big, none is shown.
type plannedSteps struct {
	read  valueReader
	steps map[string]plannedStep
	// options are the resources whose options change, by URN.
	options map[string]plannedStep
	// outputs are those that change, and those with secrets, which may change.
	outputs []plannedChange
	// moreOutputs counts the others, of which nothing is kept.
	moreOutputs int
	// kept is the size of the values so far.
	kept    int
	leftOut int

	// done is set if the steps are those that were done. failed are those that have failed, by
	// URN and operation.
	done   bool
	failed map[string]plannedStep
	// withoutOld is set if the values from before are not shown.
	withoutOld bool
}

// plannedStep is a step with the values of its properties before they are masked.
type plannedStep struct {
	plan.Step
	changes []plannedChange
	// updates are what is changed of a resource once it is imported.
	updates []plannedChange
	options []plannedChange
}

func (p *plannedSteps) size(step plannedStep) int {
	return p.sizeOf(step.changes) + p.sizeOf(step.updates)
}

// allChanges are the changes with those of what is imported, of which the program has other values.
func (s plannedStep) allChanges() []plannedChange {
	imported := slices.DeleteFunc(slices.Clone(s.changes), func(one plannedChange) bool {
		return slices.ContainsFunc(s.updates, func(update plannedChange) bool { return update.path == one.path })
	})
	return append(imported, s.updates...)
}

// note notes the effect of a step.
func (p *plannedSteps) note(event *stepEvent, what effect) {
	if p == nil || (p.done && isRefreshed(event)) { // which finds, and does nothing
		return
	}
	if what.key == "" {
		p.noteUpdate(event)
		return
	}
	step, again := p.steps[what.key]
	op := opOf(event, what.fate)
	switch {
	case op == "":
		p.kept -= p.size(step)
		delete(p.steps, what.key)
		return
	case !again && len(p.steps) >= p.maxSteps():
		p.leftOut++
		return
	}
	meta := event.Metadata
	step.Op, step.URN, step.Type, step.Provider = op, meta.URN, meta.Type, withoutProviderID(meta.Provider)
	step.DeleteFirst = op == plan.OpReplace && meta.Op == apitype.OpCreateReplacement && isCustom(event) && !meta.Old.Delete
	if op == plan.OpImport && meta.New != nil {
		step.ID = meta.New.ID
	}
	if changes := p.read.changes(event, op); len(changes) > 0 {
		step.MoreProperties = 0
		step.changes = p.within(&step, changes)
	}
	p.put(what.key, step)
}

// noteUpdate notes what is changed of a resource that is imported first, which counts as one step.
func (p *plannedSteps) noteUpdate(event *stepEvent) {
	step, known := p.steps[event.Metadata.URN]
	if !known || event.Metadata.Op != apitype.OpUpdate || !isCustom(event) {
		return
	}
	switch step.Op {
	case plan.OpImport, plan.OpCreate, plan.OpReplace:
		step.updates = p.within(&step, p.read.changes(event, plan.OpUpdate))
		p.put(event.Metadata.URN, step)
	}
}

// put puts a step in the place of the one with the key, if there is one.
func (p *plannedSteps) put(key string, step plannedStep) {
	if p.steps == nil {
		p.steps = make(map[string]plannedStep)
	}
	p.kept += p.size(step) - p.size(p.steps[key])
	p.steps[key] = step
}

// noteOutputs notes which outputs of the stack change.
func (p *plannedSteps) noteOutputs(event *stepEvent) {
	if p == nil || event.Metadata.New == nil {
		return
	}
	p.kept -= p.sizeOf(p.outputs)
	outputs := p.read.outputs(event)
	if p.done { // there is no plan of Pulumi that says whether a secret one changes
		outputs = slices.DeleteFunc(outputs, plannedChange.isSame)
	}
	var rest plannedStep
	p.outputs = p.within(&rest, outputs)
	p.moreOutputs = rest.MoreProperties
	p.kept += p.sizeOf(p.outputs)
}

// withoutProviderID returns the URN in a reference to a provider, which also has its ID.
func withoutProviderID(reference string) string {
	if at := strings.LastIndex(reference, "::"); at >= 0 {
		return reference[:at]
	}
	return reference
}

// opOf is the operation that has this effect, "" if there is none to report.
func opOf(event *stepEvent, effect fate) string {
	switch effect {
	case created:
		if event.Metadata.Op == apitype.OpImport {
			return plan.OpImport
		}
		return plan.OpCreate
	case updated:
		return plan.OpUpdate
	case replaced:
		return plan.OpReplace
	case deleted:
		return plan.OpDelete
	case retained:
		return plan.OpRetain
	}
	return ""
}

// maxSteps bounds the steps that are kept.
func (p *plannedSteps) maxSteps() int {
	if p.done {
		return plan.MaxSteps
	}
	return maxKeptSteps
}

// within returns the changes of the step that are kept. Of what was done, those that come after too
// many are only counted, and secrets that may be the same are left out.
func (p *plannedSteps) within(step *plannedStep, changes []plannedChange) []plannedChange {
	if !p.done {
		return changes
	}
	changes = slices.DeleteFunc(changes, func(one plannedChange) bool { return one.unnamed && one.isSame() })
	if p.kept+p.sizeOf(changes) > maxDoneSize {
		step.MoreProperties += len(changes)
		return nil
	}
	return changes
}

func (p *plannedSteps) sizeOf(changes []plannedChange) int {
	if p.done {
		return sizeOf(changes) + sizeOfChange*len(changes)
	}
	return sizeOf(changes)
}
