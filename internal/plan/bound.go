// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// The bounds of a plan. Whoever makes one keeps to them, and whoever reads one that others
// may have written checks them.
const (
	MaxSteps      = 10_000
	MaxProperties = 200
	MaxOptions    = 20
	MaxOutputs    = 1000
	MaxPolicies   = 1000
	MaxVersions   = 1000
	// MaxValue bounds an old or a new value, in bytes of JSON.
	MaxValue = 4 << 10
	// MaxSize bounds the Size of the whole plan.
	MaxSize = 16 << 20
	// MaxURN, MaxPath and MaxName bound texts, in bytes.
	MaxURN  = 4 << 10
	MaxPath = 256
	MaxName = 1 << 10
	// maxCount bounds the number of what is left out, so that numbers can be added up.
	maxCount = 10_000_000
)

// Bounds are the limits of a plan.
func Bounds() Limits {
	return Limits{Steps: MaxSteps, Properties: MaxProperties, Outputs: MaxOutputs, Value: MaxValue}
}

// Bounded returns a plan from elsewhere within the bounds. A plan that was made within them
// stays as it is, and any other has another digest. So has one with a digest of what it says
// is not left out: it would be that of steps that nobody sees.
func (p Plan) Bounded() Plan {
	p.Steps = slices.Clone(p.Steps[:min(len(p.Steps), MaxSteps)])
	for n := range p.Steps {
		p.Steps[n] = p.Steps[n].bounded()
	}
	p.Outputs = slices.Clone(p.Outputs[:min(len(p.Outputs), MaxOutputs)])
	for n := range p.Outputs {
		one := &p.Outputs[n]
		one.Name, one.Change = text(one.Name, MaxName), one.Change.bounded()
	}
	p.Policies = slices.Clone(p.Policies[:min(len(p.Policies), MaxPolicies)])
	for n := range p.Policies {
		verdict := &p.Policies[n]
		for _, one := range []*string{&verdict.Pack, &verdict.Version, &verdict.Name, &verdict.Level, &verdict.Message} {
			*one = text(*one, MaxName)
		}
		verdict.URN = text(verdict.URN, MaxURN)
	}
	for _, one := range []*string{&p.Inputs, &p.State, &p.MoreDigest, &p.MoreOutputsDigest, &p.PoliciesDigest, &p.Unbound} {
		*one = text(*one, MaxName)
	}
	if len(p.Versions) > MaxVersions {
		p.Versions = nil
	}
	p.More, p.MoreOutputs, p.MorePolicies = p.More.bounded(), boundedCount(p.MoreOutputs), boundedCount(p.MorePolicies)
	if p.More.Total() == 0 {
		p.MoreDigest = ""
	}
	if p.MoreOutputs == 0 {
		p.MoreOutputsDigest = ""
	}
	return p
}

func (s Step) bounded() Step {
	s.URN, s.Provider, s.ID = text(s.URN, MaxURN), text(s.Provider, MaxURN), text(s.ID, MaxURN)
	for _, one := range []*string{&s.Op, &s.Type, &s.MoreDigest, &s.Digest} {
		*one = text(*one, MaxName)
	}
	s.Properties, s.Options = boundedProperties(s.Properties, MaxProperties), boundedProperties(s.Options, MaxOptions)
	if s.MoreProperties = boundedCount(s.MoreProperties); s.MoreProperties == 0 {
		s.MoreDigest = ""
	}
	return s
}

func boundedProperties(properties []Property, most int) []Property {
	properties = slices.Clone(properties[:min(len(properties), most)])
	for n := range properties {
		one := &properties[n]
		one.Path, one.Kind, one.Change = text(one.Path, MaxPath), text(one.Kind, MaxName), one.Change.bounded()
	}
	return properties
}

func (c Change) bounded() Change {
	c.Digest, c.Rest = text(c.Digest, MaxName), text(c.Rest, MaxName)
	for _, value := range []*json.RawMessage{&c.Old, &c.New} {
		if len(*value) > MaxValue {
			*value = json.RawMessage(`"` + bounded.Sign + `"`)
		}
	}
	return c
}

// text cuts a text, and does not keep the rest of it in memory.
func text(long string, most int) string {
	if len(long) <= most {
		return long
	}
	return strings.Clone(bounded.Text(long, most))
}

func (c Counts) bounded() Counts {
	for _, count := range []*int{&c.Create, &c.Update, &c.Replace, &c.Delete, &c.Import, &c.Retain, &c.Options, &c.Other, &c.Failed} {
		*count = boundedCount(*count)
	}
	return c
}

func boundedCount(count int) int { return max(0, min(count, maxCount)) }
