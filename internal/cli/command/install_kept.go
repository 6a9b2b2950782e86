// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/cli/manifests"
)

// managerContainer is the container of the controller in the manifests.
const managerContainer = "manager"

// keep completes the options by what this program has installed before, where no flag says
// otherwise: an upgrade that forgets --runner would have programs run in the pod of the
// controller.
func (s *session) keep(ctx context.Context, api client.Client, options *manifests.Options, given func(flag string) bool) error {
	of := target{appsv1.SchemeGroupVersion.WithKind("Deployment"), client.ObjectKey{Namespace: options.Namespace, Name: controllerName}}
	object, err := of.get(ctx, api)
	if err != nil || !isApplied(object) {
		return client.IgnoreNotFound(err)
	}
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
		return fmt.Errorf("reading %s: %w", nameOf(object), err)
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name != managerContainer { // such as a proxy that someone has added
			continue
		}
		if !given("runner") && slices.Contains(container.Args, "--runner="+runnerJob) {
			options.Jobs = true
			s.Actionf("keeping --runner=%s", runnerJob)
		}
		image := untagged(container.Image)
		if !given("image") && image != "" && image != manifests.Image {
			options.Image = image
			s.Actionf("keeping --image=%s", image)
		}
		variant := manifests.VariantOf(container.Image)
		if !given("image-variant") && variant != "" && manifests.VariantOf(options.Tag) == "" {
			options.Variant = variant
			s.Actionf("keeping --image-variant=%s", variant)
		}
	}
	return nil
}

// untagged returns the name of an image without its tag, and nothing for one by its digest,
// which this program never installs.
func untagged(image string) string {
	tag, err := name.NewTag(image)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(image, ":"+tag.TagStr())
}
