// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/config"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/manifests"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

func newInstall(s *session) *cobra.Command {
	var export, crds, force bool
	var image, tag, variant, runner string
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install or upgrade pulumi-controller",
		Long: `Installs pulumi-controller in the version of this program into the namespace of Flux, or upgrades it, and waits until
it is ready. If a git repository defines what is in the cluster, commit the output of --export instead.

Without --force, the command does not overwrite what was installed or changed in another way. It restores objects that were
removed from an installation of its own.`,
		Example: `  # Install into flux-system
  flux pulumi install

  # Install it with Node.js, for programs in TypeScript
  flux pulumi install --image-variant=nodejs

  # Install it with each run as a Kubernetes Job
  flux pulumi install --runner=job

  # Go back to this older version and keep the newer CRDs
  flux pulumi install --crds=false

  # Print the manifests
  flux pulumi install --export > pulumi-controller.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkRunner(runner); err != nil {
				return err
			}
			if err := checkVariant(variant); err != nil {
				return err
			}
			if strings.ContainsAny(image[strings.LastIndex(image, "/")+1:], ":@") {
				return fmt.Errorf("--image is %q: set the tag with --tag; an image with a digest cannot be installed this way", image)
			}
			options := manifests.Options{Namespace: s.namespace(), Image: image, Tag: tag, Variant: variant, Jobs: runner == runnerJob, WithoutCRDs: !crds}
			if export {
				text, err := manifests.Build(config.Files, options)
				if err != nil {
					return err
				}
				_, err = s.Out.Write(text)
				return err
			}
			ctx, cancel := s.limited(cmd)
			defer cancel()
			api, err := s.connect(ctx)
			if err != nil {
				return err
			}
			if err := s.keep(ctx, api, &options, cmd.Flags().Changed); err != nil {
				return err
			}
			return s.install(ctx, api, options, force)
		},
	}
	cmd.Flags().BoolVar(&export, "export", false, "print the manifests instead of installing them")
	cmd.Flags().BoolVar(&crds, "crds", true, "also install the CRDs; set to false if a newer version of them is installed")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite what was installed or changed in another way")
	cmd.Flags().StringVar(&image, "image", "", "the image of the controller without its tag, if it is not the project's own; an upgrade keeps it")
	cmd.Flags().StringVar(&tag, "tag", releasedTag(s.Version), "the tag of the image")
	cmd.Flags().StringVar(&variant, "image-variant", "", "the variant of the image with the languages of programs: nodejs, python, go or all; empty for programs in YAML alone; an upgrade keeps it")
	cmd.Flags().StringVar(&runner, "runner", runnerLocal, "where Pulumi runs: local, in the pod of the controller, or job, in a Kubernetes Job for each run; an upgrade keeps it")
	completeValues(cmd, "runner", runners()...)
	completeValues(cmd, "image-variant", manifests.Variants()...)
	return cmd
}

// The values of --runner.
const runnerLocal, runnerJob = lockdown.LocalRunner, "job"

func runners() []string { return []string{runnerLocal, runnerJob} }

// checkRunner rejects an unknown --runner.
func checkRunner(runner string) error {
	if !slices.Contains(runners(), runner) {
		return fmt.Errorf("--runner is %q: it must be one of %s", runner, strings.Join(runners(), ", "))
	}
	return nil
}

// checkVariant rejects an unknown --image-variant.
func checkVariant(variant string) error {
	if variant != "" && !slices.Contains(manifests.Variants(), variant) {
		return fmt.Errorf("--image-variant is %q: it must be one of %s", variant, strings.Join(manifests.Variants(), ", "))
	}
	return nil
}

// releasedTag returns the tag of the image released with this program. A build from a
// checkout has none of its own.
func releasedTag(version string) string {
	if version == "" || strings.Contains(version, "-dev") {
		return "latest"
	}
	return "v" + version
}

func (s *session) install(ctx context.Context, api client.Client, options manifests.Options, force bool) error {
	s.Generatef("generating manifests")
	text, err := manifests.Build(config.Files, options)
	if err != nil {
		return err
	}
	objects, err := manifests.Objects(text)
	if err != nil {
		return err
	}
	s.Successf("manifests build completed")
	s.Actionf("installing components in %s namespace", s.namespace())
	if err := s.tryAll(ctx, api, objects, force); err != nil {
		return fmt.Errorf("install failed: %w", err)
	}
	if err := s.applyAll(ctx, api, objects, force); err != nil {
		return fmt.Errorf("install failed: %w", err)
	}
	s.Waitingf("verifying installation")
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		of := target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)}
		if _, err := s.await(ctx, api, of, isCurrent); err != nil {
			return fmt.Errorf("install failed: %w; see kubectl -n %s describe pods -l app=%s", err, object.GetNamespace(), object.GetName())
		}
		s.Successf("%s: deployment ready", object.GetName())
	}
	s.Successf("install finished")
	return nil
}

// applyAll applies the objects in order, CRDs first, and waits until each CRD is served.
func (s *session) applyAll(ctx context.Context, api client.Client, objects []*unstructured.Unstructured, force bool) error {
	for _, object := range objects {
		before, err := target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)}.get(ctx, api)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		err = api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), applyOptions(force)...)
		if err != nil {
			return fmt.Errorf("applying %s: %w", nameOf(object), err)
		}
		if force {
			if err := takeOver(ctx, api, object); err != nil {
				return fmt.Errorf("taking over %s: %w", nameOf(object), err)
			}
		}
		switch {
		case before == nil:
			s.Actionf("%s created", nameOf(object))
		case before.GetResourceVersion() != object.GetResourceVersion():
			s.Actionf("%s configured", nameOf(object))
		default:
			s.Actionf("%s unchanged", nameOf(object))
		}
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		of := target{object.GroupVersionKind(), client.ObjectKeyFromObject(object)}
		if _, err := s.await(ctx, api, of, isCurrent); err != nil {
			return err
		}
	}
	return nil
}

func nameOf(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + "/" + object.GetName()
	}
	return object.GetKind() + "/" + object.GetNamespace() + "/" + object.GetName()
}

// isCurrent returns the verdict of kstatus for an object of Kubernetes itself.
func isCurrent(object *unstructured.Unstructured) (bool, error) {
	result, err := status.Compute(object)
	if err != nil {
		return false, fmt.Errorf("reading the status of %s: %w", nameOf(object), err)
	}
	if result.Status == status.FailedStatus {
		return false, errors.New(result.Message)
	}
	return result.Status == status.CurrentStatus, nil
}
