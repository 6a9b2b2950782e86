// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// Subject is a Stack as selectors see it.
type Subject struct {
	// Labels of the Stack, and of its Namespace.
	Labels, Namespace map[string]string
}

// Selection is a PolicySet that selects a Stack.
type Selection struct {
	Set *v1.PolicySet
	// Err says why its selector is invalid. Whether it selects the Stack is not known then, and
	// the Stack must not go unguarded because of that.
	Err error
}

// Select returns the PolicySets that select the Stack, by name. One that is being deleted does
// until it is gone.
func Select(sets []v1.PolicySet, stack Subject) []Selection {
	var selected []Selection
	for i := range sets {
		if selects, err := Selects(&sets[i], stack); selects {
			selected = append(selected, Selection{Set: &sets[i], Err: err})
		}
	}
	slices.SortFunc(selected, func(a, b Selection) int { return cmp.Compare(a.Set.Name, b.Set.Name) })
	return selected
}

// Selects reports whether the PolicySet selects the Stack. With an error it does as far as is
// known: one selector is invalid, and the other, if it is valid, matches.
func Selects(set *v1.PolicySet, stack Subject) (bool, error) {
	inNamespace, namespaceErr := matches("namespaceSelector", set.Spec.NamespaceSelector, stack.Namespace)
	byLabels, stackErr := matches("stackSelector", set.Spec.StackSelector, stack.Labels)
	if !inNamespace || !byLabels {
		return false, nil
	}
	return true, cmp.Or(namespaceErr, stackErr)
}

// CheckSelectors returns why a selector of the PolicySet is invalid.
func CheckSelectors(set *v1.PolicySet) error {
	_, namespaceErr := matches("namespaceSelector", set.Spec.NamespaceSelector, nil)
	_, stackErr := matches("stackSelector", set.Spec.StackSelector, nil)
	return cmp.Or(namespaceErr, stackErr)
}

// NeedsNamespaces reports whether the labels of namespaces make a difference to the PolicySet.
func NeedsNamespaces(set *v1.PolicySet) bool { return !isEmpty(set.Spec.NamespaceSelector) }

func isEmpty(selector *metav1.LabelSelector) bool {
	return selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0
}

// matches reports whether the selector matches. An unset or empty one matches all, unlike
// elsewhere in Kubernetes, where an unset one matches nothing. An invalid one matches, with an
// error.
func matches(field string, selector *metav1.LabelSelector, of map[string]string) (bool, error) {
	if isEmpty(selector) {
		return true, nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return true, fmt.Errorf("spec.%s is invalid: %w", field, err)
	}
	return parsed.Matches(labels.Set(of)), nil
}
