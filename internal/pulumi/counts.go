// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxCounted bounds the resources of which is known what happened to them.
const maxCounted = 100_000

// fate is what the steps so far did to a resource.
type fate int

const (
	// untouched is also a resource that a step did not get as far as.
	untouched fate = iota
	unchanged
	created
	updated
	replaced
	deleted
	// retained is a resource that the stack does not manage any more, and that is still
	// there (retainOnDelete, or a get of what the stack managed before).
	retained
	fates
)

// counts keeps account of what the steps did to the resources. The engine's summary counts
// steps, not what became of a resource: a replacement counts once the old one is deleted,
// whether or not the new one could be created, a resource that is retained counts as
// deleted, and one that is no target and was never created as unchanged.
type counts struct {
	// of is the fate of each resource, by URN, and number how many have each fate.
	of     map[string]fate
	number [fates]int
	// pending are the resources that were replaced and are still to be deleted, by oldKey.
	pending map[string]bool
	// oldDeleted counts resources that an earlier run has replaced and that were deleted only
	// now, oldRetained those that were replaced and stay.
	oldDeleted, oldRetained int
	// over is set if there were too many resources.
	over bool
}

// effect is what a step did to the resource of the key, with the zero key for nothing.
type effect struct {
	key  string
	fate fate
}

// oldKey distinguishes a resource that is replaced from the new one, which has the same URN.
func oldKey(event *stepEvent) string { return event.Metadata.URN + "::" + event.Metadata.Old.ID }

// began counts components, whose steps change nothing but the state. Most have no other event.
func (c *counts) began(event *stepEvent) effect {
	if !isCounted(event) || isCustom(event) {
		return effect{}
	}
	return c.add(event)
}

// done counts a step that has succeeded.
func (c *counts) done(event *stepEvent) effect {
	if !isCounted(event) || (!isCustom(event) && !isRefreshed(event)) {
		return effect{}
	}
	return c.add(event)
}

// failed counts a step that has failed after it did its work, and takes back that of a
// component.
func (c *counts) failed(event *stepEvent) {
	switch {
	case !isCounted(event):
	case !isCustom(event):
		c.set(event.Metadata.URN, untouched)
	case isPartlyDone(event):
		c.add(event)
	}
}

func (c *counts) add(event *stepEvent) effect {
	meta := event.Metadata
	was := c.of[meta.URN]
	switch meta.Op {
	case apitype.OpSame:
		if was != untouched || isSkipped(event) {
			return effect{}
		}
		return c.set(meta.URN, unchanged)
	case apitype.OpUpdate:
		if was == created || was == replaced {
			return effect{} // an import that is updated
		}
		return c.set(meta.URN, updated)
	case apitype.OpCreate, apitype.OpImport, apitype.OpImportReplacement:
		return c.set(meta.URN, created)
	case apitype.OpRead:
		if old := meta.Old; old != nil && old.Custom && !old.External {
			return c.set(meta.URN, retained) // the program only reads it from now on
		}
	case apitype.OpReplace:
		return c.replaceByImport(event)
	case apitype.OpCreateReplacement:
		return c.replace(event)
	case apitype.OpDelete, apitype.OpDeleteReplaced:
		return c.remove(event)
	}
	return effect{}
}

// replace counts a new resource in the place of another.
func (c *counts) replace(event *stepEvent) effect {
	urn, old := event.Metadata.URN, event.Metadata.Old
	switch was := c.of[urn]; {
	case old == nil || old.External:
		return c.set(urn, created) // the old one is not that of the stack
	case isCustom(event) && old.Delete:
		note(&c.pending, oldKey(event))
	case was == retained:
		c.oldRetained++
	case isCustom(event) && was != deleted:
		return c.set(urn, created) // an earlier run has deleted the old one, and failed then
	}
	return c.set(urn, replaced)
}

// replaceByImport counts an import in the place of another resource, which only this step,
// the next, names: the import-replacement has the imported one as the old one.
func (c *counts) replaceByImport(event *stepEvent) effect {
	urn, old := event.Metadata.URN, event.Metadata.Old
	if old == nil || !old.Custom || !old.Delete || old.External || c.of[urn] != created {
		return effect{}
	}
	note(&c.pending, oldKey(event))
	return c.set(urn, replaced)
}

// remove counts a resource that the stack does not manage any more.
func (c *counts) remove(event *stepEvent) effect {
	urn, old, was := event.Metadata.URN, event.Metadata.Old, c.of[event.Metadata.URN]
	retains := isRetained(event)
	switch {
	case old == nil:
		return c.set(urn, deleted)
	case isCustom(event) && old.Delete && c.pending[oldKey(event)]:
		delete(c.pending, oldKey(event))
		if retains {
			c.oldRetained++
		}
		return effect{}
	case isCustom(event) && old.Delete && retains:
		c.oldRetained++
		return effect{key: oldKey(event), fate: retained}
	case isCustom(event) && old.Delete:
		c.oldDeleted++
		return effect{key: oldKey(event), fate: deleted}
	case event.Metadata.Op == apitype.OpDeleteReplaced && was == replaced:
		return effect{} // a component
	case retains:
		return c.set(urn, retained)
	case was == created:
		return c.set(urn, untouched)
	}
	return c.set(urn, deleted)
}

func (c *counts) set(urn string, now fate) effect {
	was, known := c.of[urn]
	if !known && len(c.of) >= maxCounted {
		c.over = true
		return effect{}
	}
	if c.of == nil {
		c.of = make(map[string]fate)
	}
	c.number[was]--
	c.number[now]++
	c.of[urn] = now
	return effect{key: urn, fate: now}
}

// changes counts an import as a creation: it is new to the stack.
func (c *counts) changes() run.Changes {
	return run.Changes{
		Created: c.number[created], Updated: c.number[updated], Replaced: c.number[replaced], Same: c.number[unchanged],
		Deleted: c.number[deleted] + c.oldDeleted, Retained: c.number[retained] + c.oldRetained, Unknown: c.over,
	}
}

func isCounted(event *stepEvent) bool { return isManaged(event.Metadata.Type, event.Metadata.URN) }

// isCustom reports whether the resource is none of a component, and none that a provider shows
// as a part of another (a view).
func isCustom(event *stepEvent) bool {
	before, after := event.Metadata.Old, event.Metadata.New
	return (after != nil && after.Custom) || (before != nil && before.Custom)
}

// isRefreshed reports whether the event is what pulumi refresh has found, which it reports like
// the step that would have that result.
func isRefreshed(event *stepEvent) bool {
	op := event.Metadata.Op
	return !event.Metadata.Logical && (op == apitype.OpSame || op == apitype.OpUpdate || op == apitype.OpDelete)
}

// isSkipped reports whether the resource is one that would be created if it were a target.
func isSkipped(event *stepEvent) bool {
	after := event.Metadata.New
	return event.Metadata.Op == apitype.OpSame && after != nil && after.Custom && after.ID == ""
}

// isPartlyDone reports whether the resource exists, although the step has failed: it was created
// or updated, and only did not become ready.
func isPartlyDone(event *stepEvent) bool {
	after := event.Metadata.New
	return event.Status == resource.StatusPartialFailure && after != nil && after.ID != ""
}

// isRetained reports whether a deletion leaves the resource in place. By Pulumi's rule, the
// option counts as it is in the state, not as it is in the program.
func isRetained(event *stepEvent) bool {
	meta := event.Metadata
	return isCustom(event) && meta.Old != nil && meta.Old.RetainOnDelete && !isRefreshed(event) && !strings.HasPrefix(meta.Type, providerType)
}
