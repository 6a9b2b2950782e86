// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"maps"
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxObject is the length of the longest name of an object in Kubernetes.
const maxObject = 253

// boundedViolations returns violations that the driver may have found: metrics have their levels as
// labels, and the status has them all.
func boundedViolations(reported run.Violations) run.Violations {
	bounded := run.Violations{Mandatory: boundedBySet(reported.Mandatory), Advisory: boundedBySet(reported.Advisory)}
	for _, v := range reported.Listed {
		if len(bounded.Listed) == v1.MaxViolations {
			break
		}
		if v.Level != run.Mandatory && v.Level != run.Advisory {
			continue
		}
		v.Set, v.Pack, v.Policy = cut(v.Set, maxObject), cut(v.Pack, maxObject), cut(v.Policy, maxName)
		v.Resource, v.Message = cut(v.Resource, maxName), cut(v.Message, maxName)
		bounded.Listed = append(bounded.Listed, v)
	}
	return bounded
}

// boundedBySet returns counts of PolicySets, one more than a Stack can have: packs of an organization
// in Pulumi Cloud have none.
func boundedBySet(reported map[string]int) map[string]int {
	var bounded map[string]int
	for _, set := range slices.Sorted(maps.Keys(reported)) {
		count := boundedCount(reported[set])
		if len(set) > maxObject || count == 0 || len(bounded) > v1.MaxPolicySets {
			continue
		}
		if bounded == nil {
			bounded = map[string]int{}
		}
		bounded[set] = count
	}
	return bounded
}
