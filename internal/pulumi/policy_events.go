// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxSeen bounds the violations that are recognized when Pulumi reports them again.
const maxSeen = 10_000

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
	if level == run.Advisory && policy.IsUnknownInPreview(event.Message) {
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

// levelOf is the level of the policy that is violated. What has an exception, which an organization of
// Pulumi Cloud can make, is only a warning: Pulumi continues.
func levelOf(event *apitype.PolicyEvent) run.PolicyLevel {
	if event.EnforcementLevel == string(run.Mandatory) && len(event.Exceptions) == 0 {
		return run.Mandatory
	}
	return run.Advisory
}

// isViolated reports whether a mandatory policy is violated.
func (p *policyEvents) isViolated() bool { return len(p.counts[run.Mandatory]) > 0 }

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
