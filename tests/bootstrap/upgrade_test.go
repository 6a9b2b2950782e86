// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

const (
	crdsFile       = "config/crd/kustomization.yaml"
	deploymentFile = "config/manager/deployment.yaml"

	// dependsOnCRDs is what the page has removed for a rollback.
	dependsOnCRDs = "  dependsOn:\n    - name: pulumi-controller-crds\n"
)

// build is a commit of the project, the tag of its image, and a flag by which its Deployment is recognized.
type build struct{ commit, tag, flag string }

func (b build) revision() string { return sources.Branch + "@sha1:" + b.commit }

// upgradeAndRollBack follows "Upgrade" of docs/installation.md: to a newer build, back with the CRDs of the newer one, and to
// the newer one again.
func (c *cluster) upgradeAndRollBack(installed string) {
	c.test.Helper()
	text, err := page("installation.md")
	c.Expect(err).NotTo(HaveOccurred())
	older := build{commit: c.projectCommit, tag: "1", flag: "--graceful-shutdown-timeout=10m"}
	newer := build{tag: "2", flag: "--graceful-shutdown-timeout=9m"}
	newer.commit = c.develop(older.flag, newer.flag)
	save := func(text string) { c.reconcile(c.commit(sources.Files{controllerFile: text})) }
	to := func(b build) string {
		text := c.replace(installed, "commit: "+older.commit, "commit: "+b.commit)
		return c.replace(text, `newTag: "`+older.tag+`"`, `newTag: "`+b.tag+`"`)
	}

	manifests := build{commit: newer.commit, tag: older.tag, flag: newer.flag}
	save(to(manifests))
	c.awaitDeployed(manifests)
	c.inOrder("CustomResourceDefinition/stacks.pulumi.com", isNewer, "Deployment/pulumi-controller", has(newer.flag))
	save(to(newer))
	c.awaitDeployed(newer)

	c.types(text, "flux suspend kustomization pulumi-controller-crds")
	save(to(older))
	c.Eventually(func(g Gomega) {
		waiting := conditions.UnstructuredGetter(c.kustomization(g, "pulumi-controller"))
		g.Expect(conditions.GetReason(waiting, meta.ReadyCondition)).To(Equal(meta.DependencyNotReadyReason))
	}).Should(Succeed(), "why the page has dependsOn removed")
	save(c.replace(to(older), dependsOnCRDs, ""))
	c.awaitDeployed(older)
	for _, name := range crdNames() {
		c.Expect(isNewer(moment{object: c.get(c, crds, "", name)})).To(BeTrue(), "%s of the newer build stays", name)
	}

	save(to(newer))
	c.types(text, "flux resume kustomization pulumi-controller-crds")
	c.awaitDeployed(newer)
}

// develop commits other CRDs and a Deployment with another flag to the repository of the project.
func (c *cluster) develop(olderFlag, newerFlag string) string {
	c.test.Helper()
	commit, err := c.project.Commit(c.ctx, sources.Files{
		crdsFile:       c.replace(c.projectFiles[crdsFile], "commonAnnotations:\n", "commonAnnotations:\n  newer: \"true\"\n"),
		deploymentFile: c.replace(c.projectFiles[deploymentFile], olderFlag, newerFlag),
	}, "newer")
	c.Expect(err).NotTo(HaveOccurred())
	return commit
}

// replace replaces what the text has once.
func (c *cluster) replace(text, before, after string) string {
	c.test.Helper()
	c.Expect(strings.Count(text, before)).To(Equal(1), before)
	return strings.Replace(text, before, after, 1)
}

// awaitDeployed waits until Flux has applied the build, and does for its Deployment what a node would.
func (c *cluster) awaitDeployed(b build) {
	c.test.Helper()
	deployment := &appsv1.Deployment{}
	c.Eventually(func(g Gomega) {
		g.Expect(c.Get(c.ctx, client.ObjectKey{Namespace: fluxSystem, Name: system.Account}, deployment)).To(Succeed())
		container := deployment.Spec.Template.Spec.Containers[0]
		g.Expect(container.Image).To(Equal("registry.example.com/pulumi-controller:" + b.tag))
		g.Expect(container.Args).To(ContainElement(b.flag))
	}).Should(Succeed())
	c.available(deployment)
	c.awaitApplied("pulumi-controller", b.revision())
}

// isNewer reports whether a CRD is of the newer build.
func isNewer(m moment) bool { return m.object.GetAnnotations()["newer"] != "" }

// has reports whether a Deployment has the flag.
func has(flag string) func(moment) bool {
	return func(m moment) bool {
		var deployment appsv1.Deployment
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, &deployment)
		return err == nil && slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, flag)
	}
}
