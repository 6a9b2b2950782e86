// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/mask"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/analyzer"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const (
	// maxSeen bounds the violations that are recognized when Pulumi reports them again.
	maxSeen = 10_000
	// maxViolationText bounds each text of a violation, in bytes.
	maxViolationText = 1 << 10
)

// policyEvents is what Pulumi reports of policy packs in one call.
type policyEvents struct {
	// loading is set while packs are being loaded, and if that fails.
	loading bool
	// listed are the first violations of each level.
	listed map[run.PolicyLevel][]rawViolation
	// seen are the first of them: Pulumi may report one more than once.
	seen map[[sha256.Size]byte]bool
	// keys are those that were seen, without their messages.
	keys map[violationKey]bool
	// counts are how many there are, by level and version of the pack.
	counts map[run.PolicyLevel]map[packID]int
}

// packID is what identifies a pack in the events: see packVersion.
type packID struct{ name, version string }

// violationKey is a violation without its message, before it is masked.
type violationKey struct {
	pack        packID
	policy, urn string
	level       run.PolicyLevel
}

// rawViolation is a violation before it is masked.
type rawViolation struct {
	pack        packID
	policy, urn string
	text        rawText
}

// note notes a violation.
func (p *policyEvents) note(event *apitype.PolicyEvent) {
	level := levelOf(event)
	if level == run.Advisory && isUnknownInPreview(event.Message) {
		return
	}
	of := packID{event.PolicyPackName, event.PolicyPackVersion}
	key := sha256.Sum256([]byte(strings.Join([]string{of.name, of.version, event.PolicyName, event.ResourceURN, string(level), event.Message}, "\x00")))
	if p.seen[key] {
		return
	}
	if p.seen == nil {
		p.seen, p.keys = map[[sha256.Size]byte]bool{}, map[violationKey]bool{}
		p.listed, p.counts = map[run.PolicyLevel][]rawViolation{}, map[run.PolicyLevel]map[packID]int{}
	}
	if len(p.seen) < maxSeen {
		p.seen[key] = true
		p.keys[violationKey{of, event.PolicyName, event.ResourceURN, level}] = true
	}
	if p.counts[level] == nil {
		p.counts[level] = map[packID]int{}
	}
	p.counts[level][of]++
	if len(p.listed[level]) < v1.MaxViolations {
		p.listed[level] = append(p.listed[level], rawViolation{of, event.PolicyName, event.ResourceURN, newRawText(event.Message)})
	}
}

// levelOf is the level of the policy that is violated.
func levelOf(event *apitype.PolicyEvent) run.PolicyLevel {
	if event.EnforcementLevel == string(run.Mandatory) {
		return run.Mandatory
	}
	return run.Advisory
}

// isUnknownInPreview recognizes what @pulumi/policy reports of a policy that needs a value which is
// not known in a preview. That is no violation: the update checks the policy again.
func isUnknownInPreview(message string) bool {
	return strings.HasPrefix(message, "can't run policy ") && strings.Contains(message, " during preview: ")
}

// isViolated reports whether a mandatory policy is violated.
func (p *policyEvents) isViolated() bool { return len(p.counts[run.Mandatory]) > 0 }

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

// stays is said of an update that its policies have stopped too late.
const stays = ". What was done by then stays"

// violationsMessage says which mandatory policies are violated: the first, and how many more.
func violationsMessage(all run.Violations, changed bool) string {
	total := all.Count(run.Mandatory)
	if total == 0 || len(all.Listed) == 0 {
		return ""
	}
	first := all.Listed[0]
	text := fmt.Sprintf("policy %s of pack %s", first.Policy, first.Pack)
	if first.Set != "" {
		text += " in PolicySet " + first.Set
	}
	text += ": " + about(first.Resource, first.Message)
	if total > 1 {
		text += "; and " + plural.Of(total-1, "more violation", "more violations")
	}
	if changed {
		text += stays
	}
	return text
}

// remediationEvent is the part of apitype.PolicyRemediationEvent that is read here. The values
// before and after are in the steps.
type remediationEvent struct {
	URN    string `json:"resourceUrn"`
	Policy string `json:"policyName"`
	Pack   string `json:"policyPackName"`
}

// text is the line of the log about a resource that a policy has corrected.
func (r remediationEvent) text() string {
	return about(r.URN, fmt.Sprintf("corrected by policy %s of %s", r.Policy, r.Pack))
}
