// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"path"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/analyzer"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxViolationText bounds each text of a violation, in bytes.
const maxViolationText = 1 << 10

// violations are those of the packs, masked.
func (p *policyEvents) violations(packs []*policyPack, names []string, m *mask.Masker) run.Violations {
	var all run.Violations
	find := func(of packID) run.PolicyPack { return packOf(of, packs, names) }
	for _, level := range []run.PolicyLevel{run.Mandatory, run.Advisory} {
		found := slices.Clone(p.listed[level])
		// Pulumi checks resources and packs in any order.
		slices.SortStableFunc(found, func(a, b rawViolation) int {
			return cmp.Or(cmp.Compare(a.urn, b.urn), cmp.Compare(a.policy, b.policy), cmp.Compare(a.pack.version, b.pack.version))
		})
		for _, f := range found {
			pack := find(f.pack)
			all.Listed = append(all.Listed, run.Violation{
				Set: pack.Set, Pack: pack.Name, Level: level,
				Policy: bounded.Text(m.Apply(f.policy), maxViolationText), Resource: bounded.Text(m.Apply(violatedBy(f.urn)), maxViolationText),
				Message: bounded.Text(f.text.masked(m), maxViolationText),
			})
		}
	}
	bySet := func(level run.PolicyLevel) map[string]int {
		var counts map[string]int
		for of, count := range p.counts[level] {
			if counts == nil {
				counts = map[string]int{}
			}
			counts[find(of).Set] += count
		}
		return counts
	}
	all.Mandatory, all.Advisory = bySet(run.Mandatory), bySet(run.Advisory)
	all.Listed = all.Listed[:min(len(all.Listed), v1.MaxViolations)]
	return all
}

// packOf returns the pack that the events name: by its version, which the controller has set, or by
// its name, if Pulumi ignores that.
func packOf(of packID, packs []*policyPack, names []string) run.PolicyPack {
	for _, pack := range packs {
		if packVersion(pack.PolicyPack) == of.version {
			return pack.PolicyPack
		}
	}
	for n, pack := range packs {
		if names[n] == of.name {
			return pack.PolicyPack
		}
	}
	return run.PolicyPack{Name: of.name} // of an organization in Pulumi Cloud
}

// violatedBy is the URN of a resource, empty for the stack, which Pulumi names for policies on all
// resources together.
func violatedBy(urn string) string {
	if kind, _ := kindAndName(urn); kind == stackType {
		return ""
	}
	return urn
}

// nameOfPack returns the name of a pack that Pulumi has loaded, empty if the events do not say so.
// Pulumi names a pack NAME|local|PATH, with less of a long path.
func (e *events) nameOfPack(n int) string {
	if e.summary == nil {
		return ""
	}
	for key := range e.summary.PolicyPacks {
		parts := strings.SplitN(key, "|", 3)
		if len(parts) == 3 && path.Base(parts[2]) == analyzer.Name(n) {
			return parts[0]
		}
	}
	return ""
}

// violations are those of the last call that ran the program with the packs.
func (s *session) violations() run.Violations {
	if len(s.packs) == 0 {
		return run.Violations{}
	}
	return s.events.policies.violations(s.packs, s.namesOfPacks(), s.mask)
}

func (s *session) namesOfPacks() []string {
	names := make([]string, len(s.packs))
	for n := range s.packs {
		names[n] = s.events.nameOfPack(n)
	}
	return names
}

// addViolations adds the violations to a plan: whoever approves it approves these too.
func (s *session) addViolations(made *plan.Plan) {
	found := s.violations()
	for _, v := range found.Listed {
		made.Policies = append(made.Policies, plan.Policy{Pack: v.Set + "/" + v.Pack, Name: v.Policy, Level: string(v.Level), URN: v.Resource, Message: v.Message})
	}
	if made.MorePolicies = found.Total() - len(found.Listed); made.MorePolicies == 0 {
		return
	}
	// Which ones are listed depends on the order in which Pulumi has found them.
	names, all := s.namesOfPacks(), make([]plan.Policy, 0, len(s.events.policies.keys))
	for v := range s.events.policies.keys {
		pack := packOf(v.pack, s.packs, names)
		all = append(all, plan.Policy{Pack: pack.Set + "/" + pack.Name, Name: s.mask.Apply(v.policy), Level: string(v.level), URN: s.mask.Apply(violatedBy(v.urn))})
	}
	made.PoliciesDigest = plan.DigestOfPolicies(all)
}
