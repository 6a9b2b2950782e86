// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxResources bounds the resources in a result.
const maxResources = 20_000

// resources collects the resources reported by the events of one operation. A
// successful update reports all of them, even unchanged ones, so that the state need
// not be read.
type resources struct {
	known   map[string]run.Resource
	gone    map[string]bool
	leftOut int
	ids     secretIDs
}

// began notes components: one that registers no outputs has no other event.
func (r *resources) began(event *stepEvent) {
	if after := event.Metadata.New; after != nil && !after.Custom {
		r.note(event)
	}
}

func (r *resources) done(event *stepEvent) {
	switch meta := event.Metadata; meta.Op {
	case apitype.OpDelete, apitype.OpDeleteReplaced, apitype.OpReadDiscard, apitype.OpDiscardReplaced, apitype.OpRemovePendingReplace:
		// The old part of a replacement shares the URN of the new one.
		if meta.Old == nil || !meta.Old.Delete {
			r.drop(meta.URN)
		}
	case apitype.OpRefresh:
		if meta.New == nil { // it is gone, until it is created again
			r.drop(meta.URN)
			return
		}
		r.note(event)
	case apitype.OpReplace: // the other steps of a replacement say what becomes of it
	default:
		r.note(event)
	}
}

// failed notes a resource that was created and did not become ready.
func (r *resources) failed(event *stepEvent) {
	if isPartlyDone(event) {
		r.note(event)
	}
}

func (r *resources) note(event *stepEvent) {
	meta := event.Metadata
	if meta.New == nil || !isManaged(meta.Type, meta.URN) || isSkipped(event) {
		return
	}
	noted := managedOf(meta.URN, meta.Type, meta.New)
	switch meta.Op {
	case apitype.OpRead, apitype.OpReadReplacement:
		noted.External = true
	case apitype.OpSame:
		noted.External = noted.External || (meta.Old != nil && meta.Old.External)
	}
	if _, again := r.known[meta.URN]; !again && len(r.known) >= maxResources {
		r.leftOut++
		return
	}
	if r.known == nil {
		r.known = make(map[string]run.Resource)
	}
	r.known[meta.URN] = noted
	delete(r.gone, meta.URN)
	r.ids.see(meta.URN, meta.Type, meta.New)
}

func (r *resources) drop(urn string) {
	delete(r.known, urn)
	delete(r.ids.unshown, urn)
	if len(r.gone) < maxResources {
		note(&r.gone, urn)
	}
}

// isManaged is false for the stack's own resource and for the engine's default
// providers.
func isManaged(typ, urn string) bool {
	return typ != stackType && urn != "" && !isDefaultProvider(typ, urn)
}

func managedOf(urn, typ string, at *stepState) run.Resource {
	r := run.Resource{URN: urn, Type: typ, ID: at.ID, Parent: at.Parent, Protected: at.Protect, External: at.External}
	if isRoot(r.Parent) {
		r.Parent = ""
	}
	return r
}

// isRoot reports whether the URN is that of a stack's own resource.
func isRoot(urn string) bool { return strings.Contains(urn, "::"+stackType+"::") }

// inventory is the inventory to report: nil if nothing unknown can have changed.
func (s *session) inventory(outcome run.Outcome) *run.Inventory {
	var inventory *run.Inventory
	switch events := s.events.resources; {
	case s.run.Operation == run.Recover && s.state != nil:
		known := s.state.managed
		inventory = &run.Inventory{Complete: true, Resources: slices.Clone(known[:min(len(known), maxResources)]), LeftOut: max(0, len(known)-maxResources)}
	case s.run.Operation == run.Destroy && outcome == run.Succeeded:
		return nil // the Stack goes away
	default:
		inventory = &run.Inventory{
			Complete: s.run.Operation == run.Update && outcome == run.Succeeded && len(s.run.Options.Targets) == 0 && !s.events.missed,
			Gone:     slices.Sorted(maps.Keys(events.gone)), LeftOut: events.leftOut, Missed: s.events.missed,
		}
		inventory.Resources = slices.Collect(maps.Values(events.known))
		if !inventory.Complete && !inventory.Missed && len(inventory.Resources)+len(inventory.Gone) == 0 {
			return nil
		}
	}
	s.hideIDs(inventory.Resources)
	s.maskInventory(inventory)
	slices.SortFunc(inventory.Resources, func(a, b run.Resource) int { return strings.Compare(a.URN, b.URN) })
	return inventory
}

// maskInventory masks the inventory. The URN of a parent is that of another resource.
func (s *session) maskInventory(inventory *run.Inventory) {
	masked := make(map[string]string, len(inventory.Resources))
	mask := func(text *string) {
		if *text == "" {
			return
		}
		hidden, ok := masked[*text]
		if !ok {
			hidden = bounded.Text(s.mask.Apply(*text), maxMessage)
			masked[*text] = hidden
		}
		*text = hidden
	}
	for n := range inventory.Resources {
		one := &inventory.Resources[n]
		mask(&one.URN)
		mask(&one.ID)
		mask(&one.Parent)
	}
	for n := range inventory.Gone {
		mask(&inventory.Gone[n])
	}
}
