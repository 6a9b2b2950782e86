// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

func TestSelects(t *testing.T) {
	t.Parallel()
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	notTest := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "stage", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"test"}},
	}}
	invalid := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "stage", Operator: "Is"}}}
	inTeam, other := map[string]string{"team": "a"}, map[string]string{"team": "b"}
	for name, test := range map[string]struct {
		namespaces, stacks *metav1.LabelSelector
		stack              policy.Subject
		selected           bool
		err                string
	}{
		"without selectors, all":                           {stack: policy.Subject{}, selected: true},
		"with empty selectors, all":                        {namespaces: &metav1.LabelSelector{}, stacks: &metav1.LabelSelector{}, selected: true},
		"by the labels of the namespace":                   {namespaces: team, stack: policy.Subject{Namespace: inTeam}, selected: true},
		"not by the labels of another namespace":           {namespaces: team, stack: policy.Subject{Namespace: other}},
		"not by the same labels of the Stack":              {namespaces: team, stack: policy.Subject{Labels: inTeam}},
		"by the labels of the Stack":                       {stacks: team, stack: policy.Subject{Labels: inTeam}, selected: true},
		"not by the labels of the namespace for the Stack": {stacks: team, stack: policy.Subject{Namespace: inTeam}},
		"by both":           {namespaces: team, stacks: notTest, stack: policy.Subject{Namespace: inTeam}, selected: true},
		"not by one of two": {namespaces: team, stacks: notTest, stack: policy.Subject{Namespace: inTeam, Labels: map[string]string{"stage": "test"}}},
		"an invalid selector guards what the other one selects":     {namespaces: team, stacks: invalid, stack: policy.Subject{Namespace: inTeam}, selected: true, err: "spec.stackSelector is invalid"},
		"an invalid selector guards nothing that the other excepts": {namespaces: invalid, stacks: team, stack: policy.Subject{Labels: other}},
		"an invalid selector alone guards everything":               {namespaces: invalid, selected: true, err: "spec.namespaceSelector is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			set := policySet("set", test.namespaces, test.stacks)
			selected, err := policy.Selects(&set, test.stack)
			g.Expect(selected).To(Equal(test.selected))
			if test.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.err)))
			g.Expect(policy.CheckSelectors(&set)).To(MatchError(ContainSubstring(test.err)))
		})
	}
}

func TestSelectOrdersByName(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	sets := []v1.PolicySet{policySet("b", nil, nil), policySet("c", nil, team), policySet("a", nil, nil)}
	var names []string
	for _, selection := range policy.Select(sets, policy.Subject{}) {
		names = append(names, selection.Set.Name)
	}
	g.Expect(names).To(Equal([]string{"a", "b"}))
}

func TestNeedsNamespaces(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	empty, byStack, byNamespace := policySet("a", &metav1.LabelSelector{}, nil), policySet("b", nil, team), policySet("c", team, nil)
	g.Expect(policy.NeedsNamespaces(&empty)).To(BeFalse())
	g.Expect(policy.NeedsNamespaces(&byStack)).To(BeFalse())
	g.Expect(policy.NeedsNamespaces(&byNamespace)).To(BeTrue())
}

func policySet(name string, namespaces, stacks *metav1.LabelSelector) v1.PolicySet {
	return v1.PolicySet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PolicySetSpec{NamespaceSelector: namespaces, StackSelector: stacks}}
}
