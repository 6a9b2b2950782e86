// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// NewCache returns a cache of the Jobs, Pods and Secrets of runs only. The manager's
// cache would not do: it may contain only the metadata of Secrets. An empty namespace
// means all.
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

// slim drops what nobody reads from the cache: what is secret, and what is large. Anyone
// who can create such objects in a namespace can create many, with any content.
func slim(object any) (any, error) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	switch o := object.(type) {
	case *corev1.Secret:
		*o = corev1.Secret{ObjectMeta: slimMeta(o.ObjectMeta), Immutable: o.Immutable, Data: exchange.Outline(o.Data)}
	case *batchv1.Job:
		*o = batchv1.Job{ObjectMeta: slimMeta(o.ObjectMeta), Spec: batchv1.JobSpec{Suspend: o.Spec.Suspend}, Status: o.Status}
	case *metav1.PartialObjectMetadata:
		o.ObjectMeta = slimMeta(o.ObjectMeta)
	case *corev1.Pod:
		job := metav1.GetControllerOf(o)
		o.ObjectMeta = slimMeta(o.ObjectMeta)
		if job != nil {
			o.OwnerReferences = []metav1.OwnerReference{*job}
		}
		o.Spec = corev1.PodSpec{
			NodeName: o.Spec.NodeName, InitContainers: slimContainers(o.Spec.InitContainers), Containers: slimContainers(o.Spec.Containers),
		}
	}
	return object, nil
}

// slimContainers keeps what the message about a container names that was out of memory.
func slimContainers(containers []corev1.Container) []corev1.Container {
	var slim []corev1.Container
	for _, container := range containers {
		if limit, ok := container.Resources.Limits[corev1.ResourceMemory]; ok {
			limits := corev1.ResourceList{corev1.ResourceMemory: limit}
			slim = append(slim, corev1.Container{Name: container.Name, Resources: corev1.ResourceRequirements{Limits: limits}})
		}
	}
	return slim
}

// slimMeta keeps what identifies an object and its run, and its age.
func slimMeta(meta metav1.ObjectMeta) metav1.ObjectMeta {
	slim := metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID, ResourceVersion: meta.ResourceVersion,
		CreationTimestamp: meta.CreationTimestamp, DeletionTimestamp: meta.DeletionTimestamp,
	}
	for _, key := range []string{RunLabel, partLabel, batchv1.JobNameLabel} {
		if value, ok := meta.Labels[key]; ok {
			metav1.SetMetaDataLabel(&slim, key, value)
		}
	}
	if stack := meta.Annotations[stackAnnotation]; stack != "" && len(stack) <= validation.DNS1123SubdomainMaxLength {
		slim.Annotations = map[string]string{stackAnnotation: stack}
	}
	return slim
}
