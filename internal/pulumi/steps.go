// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxSteps bounds the steps reported by a preview, maxPaths the properties named
	// for each.
	maxSteps = 10_000
	maxPaths = 20
)

// plannedSteps collects the steps of a preview, one per resource. Reads are left out:
// every preview of a program with a lookup has them. A nil plannedSteps ignores
// everything.
type plannedSteps struct {
	steps   map[string]run.Step
	leftOut int
}

// note notes the effect of a step.
func (p *plannedSteps) note(event *stepEvent, what effect) {
	if p == nil || what.key == "" {
		return
	}
	step, again := p.steps[what.key]
	op := opOf(event, what.fate)
	switch {
	case op == "":
		delete(p.steps, what.key)
		return
	case !again && len(p.steps) >= maxSteps:
		p.leftOut++
		return
	case p.steps == nil:
		p.steps = make(map[string]run.Step)
	}
	meta := event.Metadata
	step.Op, step.URN, step.Type = op, meta.URN, meta.Type
	if paths := pathsOf(event); len(paths) > 0 {
		step.Paths = paths
	}
	p.steps[what.key] = step
}

// opOf is the operation that has this effect, "" if there is none to report.
func opOf(event *stepEvent, effect fate) string {
	switch effect {
	case created:
		if event.Metadata.Op == apitype.OpImport {
			return string(apitype.OpImport)
		}
		return string(apitype.OpCreate)
	case updated:
		return string(apitype.OpUpdate)
	case replaced:
		return string(apitype.OpReplace)
	case deleted:
		return string(apitype.OpDelete)
	case retained:
		return run.OpRetain
	}
	return ""
}

// pathsOf are the first paths of the properties that change.
func pathsOf(event *stepEvent) []string {
	paths := slices.Sorted(maps.Keys(event.Metadata.DetailedDiff))
	if len(paths) == 0 {
		paths = slices.Sorted(slices.Values(event.Metadata.Diffs))
	}
	return paths[:min(len(paths), maxPaths)]
}

// steps are the steps of the preview, by URN, and how many were left out.
func (s *session) steps() ([]run.Step, int) {
	planned := s.events.planned
	if planned == nil {
		return nil, 0
	}
	var all []run.Step
	for _, urn := range slices.Sorted(maps.Keys(planned.steps)) {
		step := planned.steps[urn]
		step.URN = bounded.Text(s.mask.Apply(step.URN), maxMessage)
		for n := range step.Paths {
			step.Paths[n] = bounded.Text(s.mask.Apply(step.Paths[n]), maxPath)
		}
		all = append(all, step)
	}
	return all, planned.leftOut
}

// maxPath bounds the path of a property.
const maxPath = 256
