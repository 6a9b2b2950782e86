// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"sync"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// maxPolicies bounds the policies with a series of their own: a pack may have any number, and make up
// their names. All others share one.
const maxPolicies = 500

// otherPolicies is the label of the policies without a series of their own.
const otherPolicies = "other"

// PoliciesChecked counts a check of policies, by the reason of the condition that it has led to.
func (r *Runs) PoliciesChecked(reason string) {
	if r != nil {
		r.policies.WithLabelValues(reason).Inc()
	}
}

// Violated counts the violations that a run has found, as far as it names them.
func (r *Runs) Violated(found run.Violations) {
	if r == nil {
		return
	}
	for _, v := range found.Listed {
		pack, policy := v.Pack, v.Policy
		if !r.violated.admit(pack + "\n" + policy) {
			pack, policy = otherPolicies, otherPolicies
		}
		r.violations.WithLabelValues(pack, policy, string(v.Level)).Inc()
	}
}

// names are the policies with a series of their own.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

// admit reports whether the policy has a series of its own.
func (n *names) admit(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	if !n.seen[name] && len(n.seen) < maxPolicies {
		n.seen[name] = true
	}
	return n.seen[name]
}
