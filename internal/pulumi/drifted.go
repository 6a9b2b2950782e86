// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/drift"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// drifted collects what a refresh finds that is drift.
type drifted struct {
	ignore drift.Ignore
	// found has a step for each resource with drift that counts, and ignored is the number of those
	// with drift that does not.
	found   plannedSteps
	ignored int
	// reading counts the resources that the refresh has started to read, and read those that it has
	// read.
	reading, read int
}

// canDrift reports whether an update would undo what a refresh finds. It would not for what the
// program only reads. A provider follows the program, a component exists in the state alone, and
// what is still to be deleted may be gone.
func canDrift(event *stepEvent) bool {
	meta := event.Metadata
	return !meta.Logical && isManaged(meta.Type, meta.URN) && !strings.HasPrefix(meta.Type, providerType) &&
		meta.Old != nil && meta.Old.Custom && !meta.Old.External && !meta.Old.Delete
}

// began notes that the refresh begins to read a resource.
func (d *drifted) began(event *stepEvent) {
	if d != nil && event.Metadata.Op == apitype.OpRefresh && canDrift(event) {
		d.reading++
	}
}

// done notes what the refresh has found, and returns the line to log, or "".
func (d *drifted) done(event *stepEvent) string {
	if !isRefreshed(event) || !canDrift(event) {
		return ""
	}
	d.read++
	meta := event.Metadata
	if meta.Op == apitype.OpSame {
		return ""
	}
	step, counts := d.step(event)
	switch {
	case !counts:
		d.ignored++
		return ""
	case len(d.found.steps) >= maxKeptSteps:
		d.found.leftOut++
		return ""
	}
	d.found.put(meta.URN, step)
	if step.Op == plan.OpDelete {
		return about(meta.URN, "is gone")
	}
	return about(meta.URN, "was changed outside of Pulumi")
}

// step is the step of a resource, and whether any of its drift counts.
func (d *drifted) step(event *stepEvent) (plannedStep, bool) {
	meta := event.Metadata
	step := plannedStep{Step: plan.Step{Op: plan.OpDelete, URN: meta.URN, Type: meta.Type, Provider: withoutProviderID(meta.Provider)}}
	ignored := d.ignore.Of(meta.Type, meta.URN)
	if meta.Op == apitype.OpDelete {
		return step, !ignored.All
	}
	step.Op = plan.OpUpdate
	all := differencesOf(event)
	left := counting(all, ignored)
	for _, one := range left {
		step.changes = append(step.changes, one.planned(d.found.read, stateOf(meta.New)))
	}
	return step, !ignored.All && (len(left) > 0 || len(all) == 0)
}

// counting are the differences that are not ignored. A property that is only ignored in part is
// taken apart.
func counting(all []difference, ignored drift.Paths) []difference {
	var left []difference
	for _, one := range all {
		if ignored.Covers(one.path) {
			continue
		}
		var parts []difference
		if ignored.Within(one.path) {
			parts = one.parts()
		}
		if len(parts) > 0 {
			left = append(left, counting(parts, ignored)...)
		} else {
			left = append(left, one)
		}
	}
	return left
}

// result masks and bounds what was found.
func (d *drifted) result(m *mask.Masker) *run.Drift {
	return &run.Drift{Found: d.found.plan(m, nil, false), Ignored: d.ignored}
}
