// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cli/cluster"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

// minKubernetes is the oldest minor version that the current Flux supports, and so this
// controller.
const minKubernetes = "1.33.0"

func newCheck(s *session) *cobra.Command {
	var pre bool
	migrates := &migrationFlags{}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the prerequisites and the installation of pulumi-controller",
		Long: `Checks the prerequisites and the installation of pulumi-controller.

With --migration, it says for each Stack of the Pulumi operator what happens when this controller takes it over: which fields
are applied, what to edit first, and whether a run follows. It reads all namespaces, or that of --namespace, with your permissions,
and changes nothing. If the controller will have flags of the same name, set them here too.`,
		Example: `  # Check the prerequisites of an installation
  flux pulumi check --pre

  # Check the installation
  flux pulumi check

  # See what a migration from the Pulumi operator means for its Stacks
  flux pulumi check --migration`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := s.limited(cmd)
			defer cancel()
			if migrates.on {
				namespace := ""
				if cmd.Flags().Changed("namespace") {
					namespace = s.namespace()
				}
				return s.checkMigration(ctx, namespace, migrates.forController(), migrates.output)
			}
			return s.check(ctx, pre)
		},
	}
	cmd.Flags().BoolVar(&pre, "pre", false, "only check the prerequisites of an installation")
	migrates.addTo(cmd)
	cmd.MarkFlagsMutuallyExclusive("pre", "migration")
	return cmd
}

func (s *session) check(ctx context.Context, pre bool) error {
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	s.Actionf("checking prerequisites")
	ok, reached := s.checkKubernetes(ctx)
	if !reached {
		return s.checked(false, "") // everything else would fail, too
	}
	ok = s.checkCRD(ctx, api, sourcev1.GroupVersion.Group, "gitrepositories", sourcev1.GroupVersion.Version, "install Flux first: flux install") && ok
	if pre {
		return s.checked(ok, "prerequisites checks passed")
	}
	if wasInterrupted(ctx) {
		return ctx.Err()
	}
	s.Actionf("checking controllers")
	ok = s.checkDeployments(ctx, api) && ok
	if wasInterrupted(ctx) {
		return ctx.Err()
	}
	if ctx.Err() != nil {
		return s.checked(false, "") // no time is left for the rest
	}
	s.Actionf("checking crds")
	for _, kind := range []cluster.Kind{cluster.Stack(), cluster.Program(), cluster.PolicySet()} {
		ok = s.checkCRD(ctx, api, v1.GroupVersion.Group, kind.Plural, v1.GroupVersion.Version, "install the controller: flux pulumi install") && ok
	}
	ok = s.checkRunImages(ctx, api) && ok
	return s.checked(ok, "all checks passed")
}

func (s *session) checked(ok bool, words string) error {
	if !ok {
		return errors.New("check failed")
	}
	s.Successf("%s", words)
	return nil
}

// checkKubernetes also reports whether it reached an API server to ask for the rest.
func (s *session) checkKubernetes(ctx context.Context) (ok, reached bool) {
	info, err := cluster.Version(ctx, s.flags)
	if err != nil {
		s.failedf(ctx, "Kubernetes API call failed: %v", err)
		return false, !cluster.IsUnreached(err)
	}
	found, err := version.ParseSemantic(info.GitVersion)
	if err != nil {
		s.Failuref("Kubernetes version can't be determined")
		return false, true
	}
	if !isSupported(found) {
		s.Failuref("Kubernetes version %s does not match >=%s", info.GitVersion, minKubernetes)
		return false, true
	}
	s.Successf("Kubernetes %s >=%s", found, minKubernetes)
	return true, true
}

// isSupported accepts the suffixes of cloud providers, as in v1.33.0-eks-1234567: -0
// sorts before all of them.
func isSupported(kubernetes *version.Version) bool {
	return kubernetes.AtLeast(version.MustParseSemantic(minKubernetes + "-0"))
}

// checkCRD checks that a version of a kind is served.
func (s *session) checkCRD(ctx context.Context, api client.Reader, group, plural, served, advice string) bool {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	name := plural + "." + group
	err := api.Get(ctx, client.ObjectKey{Name: name}, crd)
	if apierrors.IsNotFound(err) {
		s.Failuref("the API server does not serve %s/%s: %s", name, served, advice)
		return false
	}
	if err != nil {
		s.failedf(ctx, "%s: %v", name, err)
		return false
	}
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == served && crd.Spec.Versions[i].Served {
			s.Successf("%s/%s", name, served)
			return true
		}
	}
	s.Failuref("the API server does not serve %s/%s: %s", name, served, advice)
	return false
}

func (s *session) checkDeployments(ctx context.Context, api client.Client) bool {
	list := &appsv1.DeploymentList{}
	if err := api.List(ctx, list, client.InNamespace(s.namespace()), client.MatchingLabels{componentLabel: controllerName}); err != nil {
		s.failedf(ctx, "listing the Deployments of the controller: %v", err)
		return false
	}
	if len(list.Items) == 0 {
		s.Failuref("no controllers found in the '%s' namespace with the label selector '%s=%s'", s.namespace(), componentLabel, controllerName)
		return false
	}
	ok := true
	for i := range list.Items {
		deployment := &list.Items[i]
		// Like flux check, wait for a rollout in progress.
		of := target{appsv1.SchemeGroupVersion.WithKind("Deployment"), client.ObjectKeyFromObject(deployment)}
		if _, err := s.await(ctx, api, of, isCurrent); err != nil {
			ok = false
			s.failedf(ctx, "%s: deployment not ready: %v", deployment.Name, err)
			s.reportUnpulled(ctx, api, deployment)
		} else {
			s.Successf("%s: deployment ready", deployment.Name)
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			s.Actionf("%s", container.Image)
			if container.Name == managerContainer {
				s.checkFlags(ctx, api, deployment, container.Args)
			}
		}
	}
	return ok
}

// checkFlags says what the controller also logs when it starts, which identities it ignores, and whether PolicySets guard its Stacks.
func (s *session) checkFlags(ctx context.Context, api client.Client, deployment *appsv1.Deployment, args []string) {
	flags, err := lockdown.Parse(args)
	if err != nil {
		s.Warningf("%s: cannot read its flags: %v", deployment.Name, err)
		return
	}
	if warning := flags.Warning(); warning != "" {
		s.Warningf("%s: %s", deployment.Name, warning)
	}
	s.checkSandbox(ctx, api, deployment, flags)
	s.warnOfIdentities(ctx, api, deployment.Name, flags)
	s.warnOfPolicySets(ctx, api, deployment, flags)
}
