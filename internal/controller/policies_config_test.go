// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
)

func configFrom(set *v1.PolicySet) {
	set.Spec.Packs[0].ConfigFrom = &v1.PolicyConfigReference{ConfigMap: v1.PolicyConfigMapReference{Name: "config", Namespace: "platform", Key: "policies"}}
}

func aConfigMap(object client.Object) (schema.GroupResource, bool) {
	_, is := object.(*corev1.ConfigMap)
	return schema.GroupResource{Resource: "configmaps"}, is
}
