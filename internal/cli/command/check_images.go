// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/bounded"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/manifests"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// pullReasons are why a container waits for its image.
func pullReasons() []string {
	return []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}
}

const (
	controllerImageAdvice = "install an existing image with flux pulumi install --image and --tag; if the image is private, add imagePullSecrets to the Deployment"
	runImageAdvice        = "set an existing image in spec.workspaceTemplate.spec.image, or with --runner-image or --runner-images; if the image is private, add imagePullSecrets to spec.workspaceTemplate.spec.podTemplate.spec"
	// maxPullMessage bounds what the kubelet says of an image, in bytes.
	maxPullMessage = 300
	// imagesTimeout is for what is read after the time for the check has passed.
	imagesTimeout = 10 * time.Second
)

// unpulled lists the containers of pods whose image cannot be pulled.
func unpulled(pods []corev1.Pod, advice string) []string {
	var texts []string
	for _, pod := range pods {
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			waiting := status.State.Waiting
			if waiting == nil || !slices.Contains(pullReasons(), waiting.Reason) {
				continue
			}
			why := strings.TrimSuffix(waiting.Reason+": "+bounded.Line(waiting.Message, maxPullMessage), ": ")
			texts = append(texts, fmt.Sprintf("pod %s/%s: cannot pull image %s (%s): %s", pod.Namespace, pod.Name, status.Image, why, advice))
		}
	}
	return texts
}

// reportUnpulled reports the images that the pods of a Deployment that is not ready cannot
// pull.
func (s *session) reportUnpulled(ctx context.Context, api client.Reader, deployment *appsv1.Deployment) {
	if wasInterrupted(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), imagesTimeout)
	defer cancel()
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return // the API server rejects such a Deployment
	}
	pods := &corev1.PodList{}
	if err := api.List(ctx, pods, client.InNamespace(deployment.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		s.Warningf("cannot list the pods of %s: %v", deployment.Name, err)
		return
	}
	for _, text := range unpulled(pods.Items, controllerImageAdvice) {
		s.Failuref("%s", text)
	}
}

// checkRunImages reports the images that the pods of runs cannot pull: of those that exist,
// and of those that the controller has deleted since, by the message of their Stack. It also
// reports the Stacks whose image does not have the language of their program.
func (s *session) checkRunImages(ctx context.Context, api client.Reader) bool {
	pods := &corev1.PodList{}
	if err := api.List(ctx, pods, client.HasLabels{runLabel}); err != nil {
		s.Warningf("cannot list the pods of runs: %v", err)
		return true
	}
	texts := unpulled(pods.Items, runImageAdvice)
	stacks := &v1.StackList{}
	if err := api.List(ctx, stacks); err != nil {
		return s.report(texts) // checkCRD says why
	}
	for i := range stacks.Items {
		stack := &stacks.Items[i]
		message := conditions.GetMessage(stack, meta.ReadyCondition)
		unpulled := slices.ContainsFunc(pullReasons(), func(reason string) bool { return strings.Contains(message, "("+reason+")") })
		if unpulled && conditions.GetReason(stack, meta.ReadyCondition) == v1.PodFailedReason {
			texts = append(texts, fmt.Sprintf("Stack %s/%s: %s: %s", stack.Namespace, stack.Name, bounded.Line(message, maxPullMessage), runImageAdvice))
		}
		if conditions.IsFalse(stack, meta.ReadyCondition) && strings.Contains(message, run.MissingLanguage) {
			texts = append(texts, missingLanguage(stack))
		}
	}
	return s.report(texts)
}

// missingLanguage names the image that has the language of a program, as far as that is
// known.
func missingLanguage(stack *v1.Stack) string {
	variant, language := "all", "its program"
	if info := stack.Status.ProjectInfo; info != nil && info.Runtime != "" {
		language = info.Runtime
		if slices.Contains(manifests.Variants(), language) {
			variant = language
		}
	}
	return fmt.Sprintf("Stack %s/%s: the image of its last run cannot execute %s: install the controller with flux pulumi install --image-variant=%s or, "+
		"for runs as Jobs, set an image with --runner-images or in spec.workspaceTemplate.spec.image", stack.Namespace, stack.Name, language, variant)
}

func (s *session) report(texts []string) bool {
	for _, text := range texts {
		s.Failuref("%s", text)
	}
	return len(texts) == 0
}
