// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
)

// Labels and names to find the controller by: all its Deployments, including those of
// shards, have the label, and a container of this name.
const (
	componentLabel = "app.kubernetes.io/component"
	controllerName = "pulumi-controller"
	controllerBox  = "manager"
)

// Labels and names to find the pods of runs by, which the controller sets on them.
const (
	runLabel        = "pulumi.com/run"
	stackAnnotation = "pulumi.com/stack"
	runContainer    = "pulumi"
)

// errNoController is also what there is while the controller is scaled down: runs as Jobs continue.
var errNoController = errors.New("no pulumi-controller pods found")

// controllerPods returns the pods of all Deployments of the controller: any replica may
// have been the leader, and each shard has its own Stacks.
func controllerPods(ctx context.Context, api client.Reader, namespace string) ([]corev1.Pod, error) {
	deployments := &appsv1.DeploymentList{}
	if err := api.List(ctx, deployments, client.InNamespace(namespace), client.MatchingLabels{componentLabel: controllerName}); err != nil {
		return nil, fmt.Errorf("listing the Deployments of the controller: %w", err)
	}
	var found []corev1.Pod
	for i := range deployments.Items {
		selector, err := metav1.LabelSelectorAsSelector(deployments.Items[i].Spec.Selector)
		if err != nil {
			return nil, fmt.Errorf("reading the selector of Deployment %s: %w", deployments.Items[i].Name, err)
		}
		pods := &corev1.PodList{}
		if err := api.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return nil, fmt.Errorf("listing the pods of Deployment %s: %w", deployments.Items[i].Name, err)
		}
		found = append(found, pods.Items...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w in namespace %q", errNoController, namespace)
	}
	return found, nil
}

// runPods returns the pods of runs of the Stacks to show, in the order of their creation.
func (v *logsView) runPods(ctx context.Context) ([]corev1.Pod, error) {
	if !v.showsRuns() {
		return nil, nil
	}
	pods := &corev1.PodList{}
	if err := v.api.List(ctx, pods, client.InNamespace(v.filter.Namespace), client.HasLabels{runLabel}); err != nil {
		return nil, fmt.Errorf("listing the pods of runs: %w", err)
	}
	found := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !v.isOfStack(&pod) })
	slices.SortStableFunc(found, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return found, nil
}

// isOfStack reports whether the pod is that of a Stack to show. A label cannot hold every
// name of a Stack.
func (v *logsView) isOfStack(pod *corev1.Pod) bool {
	return v.filter.Name == "" || pod.Annotations[stackAnnotation] == v.filter.Name
}

// hasLog reports whether the container of the run has started.
func hasLog(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.Name == runContainer && (status.State.Running != nil || status.State.Terminated != nil)
	})
}

// warnOfNoLog says what the pods of runs wait for that have no log yet, or why they never had
// one.
func (v *logsView) warnOfNoLog(pods []corev1.Pod) {
	for _, pod := range pods {
		if !hasLog(pod) {
			v.warn("Pod %s/%s has no log: %s", pod.Namespace, pod.Name, bounded.Line(whyNoLog(pod), maxPullMessage))
		}
	}
}

// warnOfNoPod says what the runs in flight wait for whose Jobs have no pod, such as those in a
// queue. It returns how many there are.
func (v *logsView) warnOfNoPod(stacks []v1.Stack, pods []corev1.Pod) (count int) {
	for i := range stacks {
		stack := &stacks[i]
		flight := stack.Status.Run
		isItsPod := func(pod corev1.Pod) bool { return pod.Labels[runLabel] == flight.ID }
		if flight == nil || flight.Job == "" || slices.ContainsFunc(pods, isItsPod) {
			continue
		}
		message := conditions.GetMessage(stack, meta.ReadyCondition)
		v.warn("Job %s/%s has no pod: %s", stack.Namespace, flight.Job, bounded.Line(message, maxPullMessage))
		count++
	}
	return count
}

func whyNoLog(pod corev1.Pod) string {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil && waiting.Message != "" {
			return fmt.Sprintf("container %s is waiting: %s: %s", status.Name, waiting.Reason, waiting.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return fmt.Sprintf("the pod is not scheduled: %s: %s", condition.Reason, condition.Message)
		}
	}
	return cmp.Or(pod.Status.Message, "the container has not started")
}
