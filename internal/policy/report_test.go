// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

const current, earlier = "sha256:b", "sha256:a"

func TestReportOn(t *testing.T) {
	t.Parallel()
	passed := v1.PolicySetResult{Name: "set", Digest: current}
	violates := v1.PolicySetResult{Name: "set", Digest: current, Mandatory: 2}
	deleting := guarded("n", "a", violates)
	deleting.DeletionTimestamp = &metav1.Time{}
	deleting.DeletionTimestamp.Time = deleting.DeletionTimestamp.AddDate(2026, 0, 0)
	other := guarded("n", "a", violates)
	other.Labels = map[string]string{"team": "b"}
	twice := guarded("n", "b", violates)
	twice.Status.Policies.Violations = []v1.PolicyViolation{
		{PolicySet: "set", Pack: "aws", Policy: "tags", Level: "mandatory", Resource: "urn:1"},
		{PolicySet: "set", Pack: "aws", Policy: "tags", Level: "mandatory", Resource: "urn:2"},
		{PolicySet: "set", Pack: "aws", Policy: "names", Level: "mandatory"},
		{PolicySet: "set", Pack: "aws", Policy: "advice", Level: "advisory"},
		{PolicySet: "other", Pack: "aws", Policy: "regions", Level: "mandatory"},
	}
	for name, test := range map[string]struct {
		stacks []v1.Stack
		digest string
		want   policy.Report
	}{
		"no Stack":                             {nil, current, policy.Report{}},
		"one that complies":                    {[]v1.Stack{guarded("n", "a", passed)}, current, policy.Report{Stacks: 1}},
		"one that was never checked":           {[]v1.Stack{guarded("n", "a")}, current, policy.Report{Stacks: 1, Unchecked: 1}},
		"one that was checked with other sets": {[]v1.Stack{guarded("n", "a", v1.PolicySetResult{Name: "other", Digest: current})}, current, policy.Report{Stacks: 1, Unchecked: 1}},
		"one that was checked with earlier packs": {[]v1.Stack{guarded("n", "a", v1.PolicySetResult{Name: "set", Digest: earlier, Mandatory: 1})}, current,
			policy.Report{Stacks: 1, Violating: 1, Unchecked: 1, Listed: []v1.ViolatingStack{{Namespace: "n", Name: "a"}}}},
		"packs that cannot be used":     {[]v1.Stack{guarded("n", "a", v1.PolicySetResult{Name: "set"})}, "", policy.Report{Stacks: 1, Unchecked: 1}},
		"one with advisory violations":  {[]v1.Stack{guarded("n", "a", v1.PolicySetResult{Name: "set", Digest: current, Advisory: 1})}, current, policy.Report{Stacks: 1}},
		"one that is being deleted":     {[]v1.Stack{deleting}, current, policy.Report{}},
		"one that is not selected":      {[]v1.Stack{other}, current, policy.Report{}},
		"two that violate, in an order": {[]v1.Stack{guarded("o", "a", violates), twice}, current, policy.Report{Stacks: 2, Violating: 2, Listed: []v1.ViolatingStack{{Namespace: "n", Name: "b", Policies: []string{"aws/names", "aws/tags"}}, {Namespace: "o", Name: "a"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := policySet("set", nil, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}})
			NewWithT(t).Expect(policy.ReportOn(&set, test.digest, test.stacks, nil)).To(Equal(test.want))
		})
	}
}

func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var stacks []v1.Stack
	for i := range 200 {
		stack := guarded("n", fmt.Sprintf("stack-%03d", i), v1.PolicySetResult{Name: "set", Digest: current, Mandatory: 1})
		for j := range 20 {
			stack.Status.Policies.Violations = append(stack.Status.Policies.Violations, v1.PolicyViolation{
				PolicySet: "set", Pack: "aws", Policy: fmt.Sprintf("policy-%02d", j), Level: "mandatory",
			})
		}
		stacks = append(stacks, stack)
	}
	set := policySet("set", nil, nil)
	report := policy.ReportOn(&set, current, stacks, nil)
	g.Expect(report.Violating).To(Equal(int32(200)))
	g.Expect(report.Listed).To(HaveLen(v1.MaxViolatingStacks))
	g.Expect(report.Listed[0].Policies).To(HaveLen(v1.MaxViolatedPolicies))
}

func guarded(namespace, name string, results ...v1.PolicySetResult) v1.Stack {
	stack := v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"team": "a"}}}
	if len(results) > 0 {
		stack.Status.Policies = &v1.PoliciesStatus{Sets: results}
	}
	return stack
}
