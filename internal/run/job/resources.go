// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
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

// resources are those of a pod as a whole and of the container of its run.
type resources struct{ pod, main corev1.ResourceRequirements }

// takeResources removes the resources from a pod, for what is merged into it to say its own.
func takeResources(from *corev1.PodSpec) resources {
	main := mainOf(from)
	taken := resources{pod: ptr.Deref(from.Resources, corev1.ResourceRequirements{}), main: main.Resources}
	from.Resources, main.Resources = nil, corev1.ResourceRequirements{}
	return taken
}

// under adds to a pod the requests and limits of each resource of which it says nothing yet. A
// request and a limit of the same resource are never of two origins, as they might contradict
// each other.
func (r resources) under(to *corev1.PodSpec) {
	named := namedResources(to)
	addResources(&mainOf(to).Resources, named, r.main)
	whole := ptr.Deref(to.Resources, corev1.ResourceRequirements{})
	if addResources(&whole, named, r.pod) {
		to.Resources = &whole
	}
}

// namedResources returns the resources of which a pod says something, for the container of the
// run or as a whole.
func namedResources(of *corev1.PodSpec) map[corev1.ResourceName]bool {
	named := map[corev1.ResourceName]bool{}
	for _, said := range []corev1.ResourceRequirements{ptr.Deref(of.Resources, corev1.ResourceRequirements{}), containerOf(of.Containers, mainContainer).Resources} {
		for _, list := range []corev1.ResourceList{said.Requests, said.Limits} {
			for name := range list {
				named[name] = true
			}
		}
	}
	return named
}

// addResources adds the requests and limits of resources that are not named, and returns whether
// there are any.
func addResources(to *corev1.ResourceRequirements, named map[corev1.ResourceName]bool, defaults corev1.ResourceRequirements) bool {
	added := false
	add := func(list *corev1.ResourceList, of corev1.ResourceList) {
		for name, amount := range of {
			if named[name] {
				continue
			}
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[name], added = amount, true
		}
	}
	add(&to.Requests, defaults.Requests)
	add(&to.Limits, defaults.Limits)
	return added
}

// tryJob asks the API server whether it would accept the pod of a Job, and adds the default
// requests. Those of the namespace come first: a LimitRange adds its own to what a pod does
// not say, which may contradict these. A quota may refuse a pod without any.
func (r *Runner) tryJob(ctx context.Context, job *batchv1.Job) error {
	pod, err := r.tryPod(ctx, job)
	if err == nil {
		addResources(&mainOf(&job.Spec.Template.Spec).Resources, namedResources(&pod.Spec), ownDefaults())
		return nil
	}
	with := job.DeepCopy()
	spec := &with.Spec.Template.Spec
	if !isFinal(err) || !addResources(&mainOf(spec).Resources, namedResources(spec), ownDefaults()) {
		return err
	}
	if _, err := r.tryPod(ctx, with); err != nil {
		return err
	}
	with.DeepCopyInto(job)
	return nil
}
