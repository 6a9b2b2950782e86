// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "pulumi.com", Version: "v1"}

// AddToScheme registers the types of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Stack{}, &StackList{}, &Program{}, &ProgramList{}, &PolicySet{}, &PolicySetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
