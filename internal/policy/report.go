// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// ResultOf returns what the last check of the Stack has found with the packs of a PolicySet, nil
// if it was not checked with them.
func ResultOf(stack *v1.Stack, set string) *v1.PolicySetResult {
	if stack.Status.Policies == nil {
		return nil
	}
	sets := stack.Status.Policies.Sets
	at := slices.IndexFunc(sets, func(result v1.PolicySetResult) bool { return result.Name == set })
	if at < 0 {
		return nil
	}
	return &sets[at]
}

// Report is how the Stacks that a PolicySet selects stand.
type Report struct {
	// Stacks counts those that are selected, Violating those that violate mandatory policies, and
	// Unchecked those without a result for the current packs.
	Stacks, Violating, Unchecked int32
	// Listed are the first that violate mandatory policies, by namespace and name.
	Listed []v1.ViolatingStack
}

// ReportOn reports on the Stacks that the PolicySet selects. The digest is that of its current
// packs, "" if they cannot be used. A Stack that is being deleted does not count: no policy holds
// up its destroy.
func ReportOn(set *v1.PolicySet, digest string, stacks []v1.Stack, namespaces map[string]map[string]string) Report {
	var report Report
	for i := range stacks {
		stack := &stacks[i]
		selected, _ := Selects(set, Subject{Labels: stack.Labels, Namespace: namespaces[stack.Namespace]}) // CheckSelectors has the error
		if !selected || !stack.DeletionTimestamp.IsZero() {
			continue
		}
		report.Stacks++
		result := ResultOf(stack, set.Name)
		if result == nil || result.Digest != digest || digest == "" {
			report.Unchecked++
		}
		if result != nil && result.Mandatory > 0 {
			report.Violating++
			report.Listed = append(report.Listed, v1.ViolatingStack{Namespace: stack.Namespace, Name: stack.Name, Policies: violated(stack, set.Name)})
		}
	}
	slices.SortFunc(report.Listed, func(a, b v1.ViolatingStack) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	report.Listed = report.Listed[:min(len(report.Listed), v1.MaxViolatingStacks)]
	return report
}

// violated returns the mandatory policies of the PolicySet that the Stack violates, as
// <pack>/<policy>.
func violated(stack *v1.Stack, set string) []string {
	var names []string
	for _, name := range ViolatedNames(stack.Status.Policies.Violations) {
		if ofSet, isOfSet := strings.CutPrefix(name, set+"/"); isOfSet {
			names = append(names, ofSet)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), v1.MaxViolatedPolicies)]
}

// ViolatedNames returns the mandatory policies that are violated, each once, as
// <PolicySet>/<pack>/<policy>.
func ViolatedNames(violations []v1.PolicyViolation) []string {
	var names []string
	for _, v := range violations {
		name := v.PolicySet + "/" + v.Pack + "/" + v.Policy
		if v.Level == string(run.Mandatory) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
