// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ownDefaults are requests for a run of which neither a template nor the namespace says
// anything: a node that is short of memory first ends pods that use more than they have
// requested. The CLI, its language host and the runner take some 220 MB for the smallest
// program, see docs/benchmarks.md. There are no limits, as a run that is killed has to be recovered from, and only
// its program says how much it needs.
func ownDefaults() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
	}}
}

// addResources adds the requests and limits of each resource of which nothing is said yet,
// and returns whether there are any. A request and a limit of the same resource are never
// of two origins, as they might contradict each other.
func addResources(to *corev1.Container, said, defaults corev1.ResourceRequirements) bool {
	added := false
	add := func(list *corev1.ResourceList, of corev1.ResourceList) {
		for name, amount := range of {
			if isNamed(said, name) {
				continue
			}
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[name], added = amount, true
		}
	}
	add(&to.Resources.Requests, defaults.Requests)
	add(&to.Resources.Limits, defaults.Limits)
	return added
}

func isNamed(has corev1.ResourceRequirements, name corev1.ResourceName) bool {
	_, requested := has.Requests[name]
	_, limited := has.Limits[name]
	return requested || limited
}

// tryJob asks the API server whether it would accept the pod of a Job, and adds the default
// requests. Those of the namespace come first: a LimitRange adds its own to what a pod does
// not say, which may contradict these. A quota may refuse a pod without any.
func (r *Runner) tryJob(ctx context.Context, job *batchv1.Job) error {
	pod, err := r.tryPod(ctx, job)
	if err == nil {
		addResources(mainOf(&job.Spec.Template.Spec), containerOf(pod.Spec.Containers, mainContainer).Resources, ownDefaults())
		return nil
	}
	with := job.DeepCopy()
	main := mainOf(&with.Spec.Template.Spec)
	if !isFinal(err) || !addResources(main, *main.Resources.DeepCopy(), ownDefaults()) {
		return err
	}
	if _, err := r.tryPod(ctx, with); err != nil {
		return err
	}
	with.DeepCopyInto(job)
	return nil
}
