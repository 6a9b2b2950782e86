// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/operator"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

const (
	operatorFile = "clusters/production/operator.yaml"
	stacksFile   = "clusters/production/stacks.yaml"

	operatorsDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: pulumi-kubernetes-operator, namespace: flux-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      containers: [{name: manager, image: pulumi/pulumi-kubernetes-operator}]
`
	operatorsStack = `apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: network, namespace: flux-system}
spec:
  stack: production
  programRef: {name: network}
`
	operatorsNeighbour = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: neighbour, namespace: flux-system}\n"
)

// TestTheOperatorThatFluxHasInstalledIsTakenOutOfGit types what docs/migration/steps.md says about a Kustomization that has installed
// the operator beside something else, and then removes the whole Kustomization while it is suspended, as one with nothing else.
func TestTheOperatorThatFluxHasInstalledIsTakenOutOfGit(t *testing.T) {
	short.Skip(t)
	c := bootstrapped(t, cut(saved(NewWithT(t)), inFluxSystem("")))
	guide, err := page("migration/steps.md")
	c.Expect(err).NotTo(HaveOccurred())
	operatorsCRDs, err := operator.Manifest()
	c.Expect(err).NotTo(HaveOccurred())
	revision := c.commit(sources.Files{
		operatorFile: kustomizationOf("operator", ""), "operator/crds.yaml": string(operatorsCRDs),
		"operator/deployment.yaml": operatorsDeployment, "operator/neighbour.yaml": operatorsNeighbour,
		stacksFile: kustomizationOf("stacks", "operator"), "stacks/network.yaml": operatorsStack,
	})
	c.reconcile(revision)
	c.awaitApplied("stacks", revision)
	c.Expect(c.history.watch(c.ctx, c, stacks)).To(Succeed())

	c.types(guide, "flux suspend kustomization <name>", "<name>", "operator")
	c.types(guide, "kubectl -n <namespace> scale deployment <name> --replicas=0", "<namespace>", fluxSystem, "<name>", "pulumi-kubernetes-operator")
	c.types(guide, "kubectl apply --server-side --force-conflicts -k config/crd")
	c.changeWhileSuspended()

	c.commit(sources.Files{operatorFile: strings.Replace(kustomizationOf("operator", ""), "prune: true", "prune: false", 1)})
	revision = c.remove("operator/crds.yaml", "operator/deployment.yaml")
	c.types(guide, "flux reconcile source git <name>", "<name>", fluxSystem)
	c.types(guide, "kubectl -n <namespace> patch kustomization <name> --type=merge -p '{\"spec\":{\"prune\":false}}'",
		"<namespace>", fluxSystem, "<name>", "operator", "'", "")
	c.types(guide, "flux resume kustomization <name>", "<name>", "operator")
	c.awaitApplied("operator", revision)
	c.awaitApplied("stacks", revision)

	revision = c.commit(sources.Files{operatorFile: kustomizationOf("operator", "")})
	c.reconcile(revision)
	c.awaitApplied("operator", revision)
	c.Expect(c.prunes()).To(BeTrue())
	c.types(guide, "flux suspend kustomization <name>", "<name>", "operator")
	c.reconcile(c.remove(operatorFile))
	c.awaitGone(fluxKustomization("operator"))
	c.keepsAll()
}

// keepsAll expects that Flux has deleted nothing, and that the operator has never started again.
func (c *cluster) keepsAll() {
	c.test.Helper()
	for _, kept := range []string{
		"ConfigMap/neighbour", "Deployment/pulumi-kubernetes-operator", "Stack/network",
		"CustomResourceDefinition/stacks.pulumi.com", "CustomResourceDefinition/programs.pulumi.com",
		"CustomResourceDefinition/updates.auto.pulumi.com", "CustomResourceDefinition/workspaces.auto.pulumi.com",
	} {
		c.Expect(c.history.first(kept, exists)).NotTo(BeZero(), kept)
		c.Expect(c.history.first(kept, gone)).To(BeZero(), kept)
	}
	c.Expect(c.scales()).To(Equal([]int64{1, 0}))
}

func (c *cluster) prunes() bool {
	prune, _, _ := unstructured.NestedBool(c.kustomization(c, "operator").Object, "spec", "prune")
	return prune
}

// changeWhileSuspended pushes a change of the Stack, which Flux does not apply, and makes it with kubectl, too.
func (c *cluster) changeWhileSuspended() {
	c.test.Helper()
	revision := c.commit(sources.Files{"stacks/network.yaml": operatorsStack + "  serviceAccountName: network\n"})
	c.reconcile(revision)
	c.Eventually(func(g Gomega) {
		waiting := conditions.UnstructuredGetter(c.kustomization(g, "stacks"))
		g.Expect(conditions.GetReason(waiting, meta.ReadyCondition)).To(Equal(meta.DependencyNotReadyReason))
	}).Should(Succeed(), "why the page has the objects changed with kubectl")
	c.Expect(c.accountOfStack()).To(BeEmpty())
	c.runs("kubectl", "-n", fluxSystem, "patch", "stack", "network", "--type=merge", `--patch={"spec":{"serviceAccountName":"network"}}`)
	c.Expect(c.accountOfStack()).To(Equal("network"))
}

func (c *cluster) accountOfStack() string {
	account, _, _ := unstructured.NestedString(c.get(c, stacks, fluxSystem, "network").Object, "spec", "serviceAccountName")
	return account
}

// scales lists the replicas that the Deployment of the operator had, one after the other.
func (c *cluster) scales() (scales []int64) {
	for _, moment := range c.history.of("Deployment/pulumi-kubernetes-operator") {
		replicas, _, _ := unstructured.NestedInt64(moment.object.Object, "spec", "replicas")
		if len(scales) == 0 || scales[len(scales)-1] != replicas {
			scales = append(scales, replicas)
		}
	}
	return scales
}

// kustomizationOf returns a Kustomization for the directory of its name.
func kustomizationOf(name, dependsOn string) string {
	text := `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ` + name + `, namespace: flux-system}
spec:
  interval: 10m
  path: ./` + name + `
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
`
	if dependsOn != "" {
		text += "  dependsOn: [{name: " + dependsOn + "}]\n"
	}
	return text
}
