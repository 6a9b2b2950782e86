// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the Stack in the version that the Pulumi operator first
// served. Only the name of the version differs from v1, the storage version and
// the one that the controller reads. Add nothing here.
//
// +kubebuilder:object:generate=true
// +groupName=pulumi.com
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "pulumi.com", Version: "v1alpha1"}

// AddToScheme registers the types of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Stack{}, &StackList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
