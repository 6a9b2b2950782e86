// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/flux-pulumi/pulumi-controller/internal/brief"
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

func (p *plannedSteps) began(event *stepEvent) {
	if p == nil {
		return
	}
	switch event.Metadata.Op {
	case apitype.OpCreate, apitype.OpUpdate, apitype.OpDelete, apitype.OpReplace, apitype.OpImport:
		p.add(event)
	}
}

func (p *plannedSteps) add(event *stepEvent) {
	meta := event.Metadata
	if !isManaged(meta.Type, meta.URN) {
		return
	}
	if _, again := p.steps[meta.URN]; !again && len(p.steps) >= maxSteps {
		p.leftOut++
		return
	}
	if p.steps == nil {
		p.steps = make(map[string]run.Step)
	}
	paths := slices.Sorted(maps.Keys(meta.DetailedDiff))
	if len(paths) == 0 {
		paths = slices.Sorted(slices.Values(meta.Diffs))
	}
	p.steps[meta.URN] = run.Step{Op: string(meta.Op), URN: meta.URN, Type: meta.Type, Paths: paths[:min(len(paths), maxPaths)]}
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
		step.URN = brief.Text(s.mask.Apply(step.URN), maxMessage)
		for n := range step.Paths {
			step.Paths[n] = brief.Text(s.mask.Apply(step.Paths[n]), maxPath)
		}
		all = append(all, step)
	}
	return all, planned.leftOut
}

// maxPath bounds the path of a property.
const maxPath = 256
