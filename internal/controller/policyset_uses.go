// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/policy"
)

// namespaceKind is the kind of namespaces, of which only the metadata is watched.
var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// namespaceWatch watches namespaces once their labels make a difference.
func namespaceWatch(reader client.Reader, now func() time.Time, start func(client.Object) error) *lateWatch {
	list, namespace := &metav1.PartialObjectMetadataList{}, &metav1.PartialObjectMetadata{}
	list.SetGroupVersionKind(namespaceKind.GroupVersion().WithKind(namespaceKind.Kind + "List"))
	namespace.SetGroupVersionKind(namespaceKind)
	return &lateWatch{reader: reader, list: list, now: now, start: func() error { return start(namespace) }}
}

// policyReader reads what the selection of Stacks by PolicySets depends on from the cache. It
// watches what it reads from then on.
type policyReader struct {
	client.Reader
	// policySets and namespaces watch the two kinds.
	policySets, namespaces *lateWatch
}

// list returns the PolicySets. They are the cache's and must not be modified.
func (r policyReader) list(ctx context.Context) ([]v1.PolicySet, error) {
	watched, err := r.policySets.ensure(ctx)
	if err != nil || !watched {
		return nil, err
	}
	var sets v1.PolicySetList
	if err := r.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("failed to list the PolicySets: %w", err)
	}
	return sets.Items, nil
}

// labelsFor returns the labels of all namespaces by name, nil if they make no difference to the
// PolicySets. They must not be modified.
func (r policyReader) labelsFor(ctx context.Context, sets ...v1.PolicySet) (map[string]map[string]string, error) {
	if !policy.NeedNamespaces(sets) {
		return nil, nil
	}
	if _, err := r.namespaces.ensure(ctx); err != nil {
		return nil, err
	}
	var namespaces metav1.PartialObjectMetadataList
	namespaces.SetGroupVersionKind(namespaceKind.GroupVersion().WithKind(namespaceKind.Kind + "List"))
	if err := r.List(ctx, &namespaces, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("failed to list the namespaces: %w", err)
	}
	labels := make(map[string]map[string]string, len(namespaces.Items))
	for i := range namespaces.Items {
		labels[namespaces.Items[i].Name] = namespaces.Items[i].Labels
	}
	return labels, nil
}

// setsThat returns the PolicySets for which the function returns true.
func (r policyReader) setsThat(ctx context.Context, are func(*v1.PolicySet) bool) ([]v1.PolicySet, error) {
	sets, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	var those []v1.PolicySet
	for i := range sets {
		if are(&sets[i]) {
			those = append(those, sets[i])
		}
	}
	return those, nil
}

// usesSource reports whether a pack of the PolicySet comes from the source.
func usesSource(kind string) func(*v1.PolicySet, client.Object) bool {
	return func(set *v1.PolicySet, source client.Object) bool {
		return slices.ContainsFunc(set.Spec.Packs, func(pack v1.PolicyPack) bool {
			ref := pack.SourceRef
			return ref.Kind == kind && ref.Namespace == source.GetNamespace() && ref.Name == source.GetName()
		})
	}
}

// usesConfigMap reports whether a pack of the PolicySet has config from the ConfigMap.
func usesConfigMap(set *v1.PolicySet, object client.Object) bool {
	return slices.ContainsFunc(set.Spec.Packs, func(pack v1.PolicyPack) bool {
		return pack.ConfigFrom != nil && pack.ConfigFrom.ConfigMap.Namespace == object.GetNamespace() && pack.ConfigFrom.ConfigMap.Name == object.GetName()
	})
}

// usesNamespaces reports whether the labels of namespaces make a difference to the PolicySet.
func usesNamespaces(set *v1.PolicySet, _ client.Object) bool {
	return policy.NeedNamespaces([]v1.PolicySet{*set})
}

// labelsUpdated passes updates of the labels of an object.
func labelsUpdated() predicate.Predicate {
	return predicate.And(updatesOnly(), predicate.LabelChangedPredicate{})
}

// updatesOnly passes no other events than updates.
func updatesOnly() predicate.Predicate {
	none := predicate.NewPredicateFuncs(func(client.Object) bool { return false })
	return predicate.Funcs{CreateFunc: none.Create, DeleteFunc: none.Delete, GenericFunc: none.Generic}
}
