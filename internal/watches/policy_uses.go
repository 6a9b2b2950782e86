// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package watches

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

// UsesSource reports whether a pack of the PolicySet comes from the source.
func UsesSource(kind string) func(*v1.PolicySet, client.Object) bool {
	return func(set *v1.PolicySet, source client.Object) bool {
		return slices.ContainsFunc(set.Spec.Packs, func(pack v1.PolicyPack) bool {
			ref := pack.SourceRef
			return ref.Kind == kind && ref.Namespace == source.GetNamespace() && ref.Name == source.GetName()
		})
	}
}

// UsesConfigMap reports whether a pack of the PolicySet has config from the ConfigMap.
func UsesConfigMap(set *v1.PolicySet, object client.Object) bool {
	return slices.ContainsFunc(set.Spec.Packs, func(pack v1.PolicyPack) bool {
		return pack.ConfigFrom != nil && pack.ConfigFrom.ConfigMap.Namespace == object.GetNamespace() && pack.ConfigFrom.ConfigMap.Name == object.GetName()
	})
}
