// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"fmt"
)

// PolicyPack is a policy pack that a run has to load.
type PolicyPack struct {
	// Set is the name of the PolicySet, and Name that of the pack in it.
	Set, Name string
	// Revision of the source, for people.
	Revision string
	// Artifact with the pack in its Dir.
	Artifact Artifact
	// Config is a JSON object as in the file of pulumi's --policy-pack-config. Nil is none.
	Config json.RawMessage `json:",omitempty"`
	// Enforced reports whether the PolicySet enforces the pack. Another is only in checks.
	Enforced bool
}

// Title names the pack in messages.
func (p PolicyPack) Title() string {
	return fmt.Sprintf("policy pack %s of PolicySet %s", p.Name, p.Set)
}

// Violations are what the policies of a run have found.
type Violations struct {
	// Listed are the first of them, mandatory ones first.
	Listed []Violation `json:",omitempty"`
	// Mandatory and Advisory count all, by PolicySet.
	Mandatory map[string]int `json:",omitempty"`
	Advisory  map[string]int `json:",omitempty"`
}

// Count counts those of policies with the level.
func (v Violations) Count(level PolicyLevel) int {
	counts := v.Mandatory
	if level == Advisory {
		counts = v.Advisory
	}
	total := 0
	for _, count := range counts {
		total += count
	}
	return total
}

// Total counts all.
func (v Violations) Total() int { return v.Count(Mandatory) + v.Count(Advisory) }

// Violation is what a policy has found in a resource, or in the stack as a whole.
type Violation struct {
	// Set is the name of the PolicySet, Pack that of the pack in it, and Policy that of the
	// policy in the pack.
	Set, Pack, Policy string
	// Level is that of the policy: Mandatory or Advisory.
	Level PolicyLevel
	// Resource is its URN. Empty for the stack as a whole.
	Resource string `json:",omitempty"`
	// Message of the policy.
	Message string `json:",omitempty"`
}

// PolicyLevel is what Pulumi does about a violation.
type PolicyLevel string

const (
	// Mandatory fails the run before it touches the resource.
	Mandatory PolicyLevel = "mandatory"
	// Advisory reports it.
	Advisory PolicyLevel = "advisory"
)
