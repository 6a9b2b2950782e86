// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// NewCache returns a cache of the Jobs, Pods and Secrets of runs, and of no others. It
// is one of its own, as the manager's may have only the metadata of Secrets. An empty
// namespace is all.
func NewCache(config *rest.Config, scheme *runtime.Scheme, namespace string) (cache.Cache, error) {
	isRun, err := labels.NewRequirement(RunLabel, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("failed to select the objects of runs: %w", err)
	}
	selected := cache.ByObject{Label: labels.NewSelector().Add(*isRun), Transform: slim}
	options := cache.Options{
		Scheme: scheme,
		ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: selected, &corev1.Pod{}: selected, &corev1.Secret{}: selected,
		},
	}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	watched, err := cache.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("failed to make the cache of runs: %w", err)
	}
	return watched, nil
}

// slim leaves out of the cache what nobody looks at there, the inputs of runs first of
// all: they are secret, and large.
func slim(object any) (any, error) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if accessed, ok := object.(client.Object); ok {
		accessed.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Secret:
		delete(o.Data, exchange.RunKey)
	case *batchv1.Job:
		o.Spec.Template.Spec = corev1.PodSpec{}
	case *corev1.Pod:
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName, ServiceAccountName: o.Spec.ServiceAccountName}
	}
	return object, nil
}
