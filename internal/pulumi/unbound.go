// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
)

// Why an update cannot be held to a plan of Pulumi.
const (
	// unboundProvider is a provider that Pulumi does not ask in a preview: an update would fail in the
	// middle, although it does what was previewed.
	unboundProvider = "a provider has settings that are known only during the update, and what it adds to the inputs of its resources " +
		"is missing in Pulumi's own plans (pulumi/pulumi#13765)"
	// unboundSize is a plan that this process does not keep.
	unboundSize = "the plan of Pulumi is larger than 64 MiB"
)

// unbound returns why Pulumi cannot be held to the plan that was made, "" if it can.
func (s *session) unbound() string {
	switch {
	case s.goals == nil:
		return "" // of a destroy
	case s.goals.binding.asksNoProvider():
		return unboundProvider
	case s.goals.tooLarge:
		return unboundSize
	}
	return ""
}

// binding is what a plan of Pulumi has that it cannot hold an update to.
type binding struct {
	// newReferences is set for an input or output that refers to a resource which does not exist yet.
	newReferences bool
	// changing counts the resources that change, and files those that change an input which is an
	// asset or archive. outputs is set for such an output of the stack.
	changing, files int
	outputs         bool
	// unknown are the URNs of the providers with settings that are not known, and used those of
	// the resources that change.
	unknown, used map[string]bool
}

// resourcePlan is a resource in a plan of Pulumi.
type resourcePlan struct {
	Goal struct {
		Type       string   `json:"type"`
		Custom     bool     `json:"custom"`
		Provider   string   `json:"provider"`
		InputDiff  planDiff `json:"inputDiff"`
		OutputDiff planDiff `json:"outputDiff"`
	} `json:"goal"`
	State map[string]json.RawMessage `json:"state"`
	Steps []apitype.OpType           `json:"steps"`
	Seed  []byte                     `json:"seed"`
}

// creates reports whether a resource is created, also in place of one that is replaced.
func (p resourcePlan) creates() bool {
	return slices.ContainsFunc(p.Steps, func(step apitype.OpType) bool { return strings.HasPrefix(string(step), string(apitype.OpCreate)) })
}

type planDiff struct {
	Adds    map[string]json.RawMessage `json:"adds"`
	Updates map[string]json.RawMessage `json:"updates"`
}

// has reports whether any new value is one of those.
func (d planDiff) has(is func(value json.RawMessage) bool) bool {
	for _, properties := range []map[string]json.RawMessage{d.Adds, d.Updates} {
		for _, value := range properties {
			if is(value) {
				return true
			}
		}
	}
	return false
}

// hasUnknown reports whether a value, or a part of it, is not known. Pulumi writes one text for all types.
func hasUnknown(value json.RawMessage) bool {
	return bytes.Contains(value, []byte(plugin.UnknownStringValue))
}

// changes reports whether anything is done to the resource.
func (p resourcePlan) changes() bool {
	return slices.ContainsFunc(p.Steps, func(op apitype.OpType) bool { return !changesNothing(op) })
}

func (b *binding) see(urn string, planned resourcePlan) {
	goal := planned.Goal
	b.newReferences = b.newReferences || goal.InputDiff.has(isNewReference) || goal.OutputDiff.has(isNewReference)
	switch {
	case goal.Type == stackType:
		b.outputs = goal.OutputDiff.has(isFile)
	case strings.HasPrefix(goal.Type, providerType):
		if goal.InputDiff.has(hasUnknown) && len(b.unknown) < maxKeptGoals {
			note(&b.unknown, urn)
		}
	case planned.changes() && goal.Custom:
		b.changing++
		if goal.InputDiff.has(isFile) {
			b.files++
		}
		if len(b.used) < maxKeptGoals {
			note(&b.used, withoutProviderID(goal.Provider))
		}
	}
}

// filesMayChange reports whether a file that a resource or an output is made of may be made by
// another resource in the same update.
func (b binding) filesMayChange() bool {
	return (b.files > 0 && b.changing > 1) || (b.outputs && b.changing > 0)
}

// asksNoProvider reports whether a resource changes whose provider Pulumi does not configure in a
// preview.
func (b binding) asksNoProvider() bool {
	for urn := range b.unknown {
		if b.used[urn] {
			return true
		}
	}
	return false
}
