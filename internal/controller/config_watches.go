// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/flux-pulumi/pulumi-controller/internal/watches"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch

// watchConfigs reconciles the Stacks that refer to a Secret or ConfigMap when that
// changes. It caches metadata only: a cluster may have many, and nearly all of them are
// irrelevant here.
func (r *StackReconciler) watchConfigs(blueprint *builder.Builder, which predicate.Predicate) {
	changed := predicate.Predicate(predicate.ResourceVersionChangedPredicate{})
	if which != nil {
		changed = predicate.And(changed, which)
	}
	for _, config := range []struct {
		object client.Object
		mapped handler.MapFunc
	}{
		{&corev1.Secret{}, r.stacksThatUse(secretIndex, objectKey)},
		{&corev1.ConfigMap{}, eachOf(r.stacksThatUse(configMapIndex, objectKey), r.stacksOfSetsThatUse(watches.UsesConfigMap))},
	} {
		blueprint.WatchesMetadata(config.object, handler.EnqueueRequestsFromMapFunc(config.mapped), builder.WithPredicates(changed))
	}
}
