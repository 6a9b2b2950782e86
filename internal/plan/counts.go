// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Counts counts resources by what would be done to them.
type Counts struct {
	Create  int `json:"create,omitempty"`
	Update  int `json:"update,omitempty"`
	Replace int `json:"replace,omitempty"`
	Delete  int `json:"delete,omitempty"`
	Import  int `json:"import,omitempty"`
	Retain  int `json:"retain,omitempty"`
	// Options are resources of which only options change.
	Options int `json:"options,omitempty"`
	// Other are operations that this version does not know.
	Other int `json:"other,omitempty"`
	// Failed are steps that a run has tried, and no plan has any.
	Failed int `json:"failed,omitempty"`
}

// Counts counts all steps of the plan, those left out included.
func (p Plan) Counts() Counts { return p.More.and(p.Steps) }

// Destructive reports whether the plan deletes or replaces a resource, or may do so.
func (p Plan) Destructive() bool {
	counts := p.Counts()
	return p.Destroy || counts.Replace+counts.Delete+counts.Other+counts.Failed > 0
}

// Untried returns a plan from elsewhere as one that nobody has tried: a step that has failed counts as
// nothing else, and could so hide a deletion.
func (p Plan) Untried() Plan {
	p.Incomplete = false
	p.Steps = slices.Clone(p.Steps)
	for n := range p.Steps {
		p.Steps[n].Failed = false
	}
	p.More.Other, p.More.Failed = p.More.Other+p.More.Failed, 0
	return p
}

// IsEmpty reports whether the plan changes neither a resource nor an output.
func (p Plan) IsEmpty() bool {
	return !p.Incomplete && p.Counts().Total() == 0 && len(p.Outputs)+p.MoreOutputs == 0
}

// and returns the counts with those of the steps.
func (c Counts) and(steps []Step) Counts {
	for _, step := range steps {
		if step.Failed {
			c.Failed++
			continue
		}
		switch step.Op {
		case OpCreate:
			c.Create++
		case OpUpdate:
			c.Update++
		case OpReplace:
			c.Replace++
		case OpDelete:
			c.Delete++
		case OpImport:
			c.Import++
		case OpRetain:
			c.Retain++
		case OpSame:
			c.Options++
		default:
			c.Other++
		}
	}
	return c
}

// Total is the number of resources.
func (c Counts) Total() int {
	return c.Create + c.Update + c.Replace + c.Delete + c.Import + c.Retain + c.Options + c.Other + c.Failed
}

// CountsText counts what changes, or says that only outputs do.
func (p Plan) CountsText() string {
	counts := p.Counts()
	if counts.Total() == 0 && len(p.Outputs)+p.MoreOutputs > 0 {
		return "only outputs change"
	}
	return counts.String()
}

// String is a list such as "2 to create, 1 to delete", or "no changes".
func (c Counts) String() string {
	return listOf([]counted{
		{c.Create, "to create"}, {c.Import, "to import"}, {c.Update, "to update"}, {c.Replace, "to replace"}, {c.Delete, "to delete"},
		{c.Retain, "to leave in place (retainOnDelete)"}, {c.Options, "with changed options"}, {c.Other, "other"},
	}, "no changes")
}

type counted struct {
	count int
	what  string
}

// listOf lists what there is of the parts.
func listOf(parts []counted, none string) string {
	var texts []string
	for _, part := range parts {
		if part.count > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if len(texts) == 0 {
		return none
	}
	return strings.Join(texts, ", ")
}
