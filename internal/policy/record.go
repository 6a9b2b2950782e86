// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Record returns what the record of a run says of its packs, nil if it has none. The status has
// room for so many PolicySets: others guard the Stack all the same, and count it as unchecked.
func Record(packs []run.PolicyPack) (*v1.RunPolicies, error) {
	digest, err := Digest(packs)
	if err != nil || digest == "" {
		return nil, err
	}
	is := &v1.RunPolicies{Digest: digest}
	for _, pack := range packs {
		if last := len(is.Sets) - 1; last >= 0 && is.Sets[last].Name == pack.Set || len(is.Sets) == v1.MaxPolicySets {
			continue
		}
		of, err := Digest(OfSet(packs, pack.Set))
		if err != nil {
			return nil, err
		}
		is.Sets = append(is.Sets, v1.RunPolicySet{Name: pack.Set, Digest: of})
	}
	return is, nil
}

// LeftOut returns the PolicySets of the packs of a run that its record has no room for.
func LeftOut(packs []run.PolicyPack, recorded *v1.RunPolicies) []string {
	var leftOut []string
	for _, pack := range packs {
		isRecorded := slices.ContainsFunc(recorded.Sets, func(set v1.RunPolicySet) bool { return set.Name == pack.Set })
		if !isRecorded && !slices.Contains(leftOut, pack.Set) {
			leftOut = append(leftOut, pack.Set)
		}
	}
	return leftOut
}
