// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// noteOptions notes the options of a resource that stays in the stack, or comes into it. For
// Pulumi, one of which only options change is the same, but they decide what a later update
// may delete, and with which credentials. Of the other options, Pulumi's events say nothing:
// what comes of those is in the plan of the update that it changes.
func (p *plannedSteps) noteOptions(event *stepEvent) {
	if p == nil || !isCounted(event) || isSkipped(event) {
		return
	}
	meta := event.Metadata
	switch meta.Op {
	case apitype.OpSame, apitype.OpUpdate, apitype.OpCreate, apitype.OpCreateReplacement, apitype.OpImport, apitype.OpImportReplacement:
	default:
		return
	}
	if meta.New == nil || isRefreshed(event) {
		return
	}
	options := p.read.options(meta.Old, meta.New)
	_, again := p.options[meta.URN]
	switch {
	case len(options) == 0:
		delete(p.options, meta.URN)
		return
	case !again && len(p.options) >= p.maxSteps():
		p.leftOut++
		return
	case p.options == nil:
		p.options = make(map[string]plannedStep)
	}
	p.options[meta.URN] = plannedStep{
		Step:    plan.Step{Op: plan.OpSame, URN: meta.URN, Type: meta.Type, Provider: withoutProviderID(meta.Provider)},
		options: options,
	}
}

// options are those that differ, of a new resource those that are not the default.
func (r valueReader) options(old, now *stepState) []plannedChange {
	was, kind := stateOf(old), plan.KindUpdate
	if old == nil {
		kind = plan.KindAdd
	}
	var all []plannedChange
	add := func(name string, before, after any) {
		if before != after {
			all = append(all, plannedChange{path: name, top: name, kind: kind, old: r.value(before, old != nil), new: r.value(after, true)})
		}
	}
	add("protect", was.Protect, now.Protect)
	add("retainOnDelete", was.RetainOnDelete, now.RetainOnDelete)
	before, after := withoutProviderID(was.Provider), withoutProviderID(now.Provider)
	// Another version has another default provider, and is in the versions of the plan.
	if old != nil && !(isDefaultProvider(providerType, before) && isDefaultProvider(providerType, after)) {
		add("provider", before, after)
	}
	return all
}

// withOptions are the steps with the options of their resources, and those of resources of
// which nothing else changes.
func (p *plannedSteps) withOptions() map[string]plannedStep {
	all := maps.Clone(p.options)
	if all == nil {
		all = make(map[string]plannedStep, len(p.steps))
	}
	for key, step := range p.steps {
		if step.Op != plan.OpDelete && step.Op != plan.OpRetain {
			step.options = p.options[key].options
		}
		all[key] = step
	}
	maps.Copy(all, p.failed)
	return all
}
