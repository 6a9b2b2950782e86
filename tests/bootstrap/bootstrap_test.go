// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
)

const (
	namespace = "infrastructure"

	controllerFile     = "clusters/production/pulumi-controller.yaml"
	infrastructureFile = "clusters/production/infrastructure.yaml"
	appsFile           = "clusters/production/apps.yaml"
)

// TestFluxWaitsForTheStacksThatItApplies follows the guide from its beginning to its end, with a commit that fails and one
// that cannot succeed on the way.
func TestFluxWaitsForTheStacksThatItApplies(t *testing.T) {
	short.Skip(t)
	began := time.Now()
	files := saved(NewWithT(t))
	c := bootstrapped(t, cut(files, inFluxSystem("")))
	controller := cut(files, controllerFile)
	t.Logf("Flux is there after %s", time.Since(began).Round(time.Millisecond))
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"the CRDs are installed, and then the controller", func() { c.addController(controller) }},
		{"a newer controller comes after its CRDs, and an older one without them", func() { c.upgradeAndRollBack(controller[controllerFile]) }},
		{"a Secret that is encrypted in git is decrypted", c.addSecrets},
		{"the Kustomization is ready when the Stacks are", func() { c.addInfrastructure(files) }},
		{"a Stack that fails keeps it from being ready, until a commit mends it", c.failAndMend},
		{"a Stack that cannot succeed is named at once", c.stall},
		{"what is no longer in git is destroyed", c.removeInfrastructure},
		{"a Stack that fails is named when the time is over", c.awaitTimeout},
		{"the CRDs stay when the controller goes", c.removeController},
	} {
		began := time.Now()
		step.do()
		t.Logf("%s: %s", step.name, time.Since(began).Round(time.Millisecond))
	}
}

// cut removes the files below a path and returns them.
func cut(files sources.Files, path string) sources.Files {
	taken := sources.Files{}
	for name, content := range files {
		if strings.HasPrefix(name, path) {
			taken[name] = content
		}
	}
	return taken
}

// addController commits the controller, from a local repository instead of GitHub, and leaves what it commits in files.
func (c *cluster) addController(files sources.Files) {
	c.test.Helper()
	for _, here := range [][]string{
		{"https://github.com/flux-pulumi/pulumi-controller\n", c.project.URL() + "\n"}, {ImageCommit, c.projectCommit},
	} {
		c.Expect(strings.Count(files[controllerFile], here[0])).To(Equal(1), here[0])
		files[controllerFile] = strings.Replace(files[controllerFile], here[0], here[1], 1)
	}
	for _, name := range crdNames() {
		c.Expect(c.history.first("CustomResourceDefinition/"+name, exists)).To(BeZero(), "the API server has %s before Flux installs it", name)
	}
	c.reconcile(c.commit(files))
	c.runController()
	c.awaitApplied("pulumi-controller", "")
	for _, name := range crdNames() {
		c.Expect(c.get(c, crds, "", name).GetLabels()).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/name", "pulumi-controller-crds"))
		c.inOrder("CustomResourceDefinition/"+name, exists, "Kustomization/pulumi-controller-crds", ready)
	}
	c.inOrder("Kustomization/pulumi-controller-crds", ready, "Deployment/pulumi-controller", exists)
	c.Expect(c.history.watch(c.ctx, c, stacks)).To(Succeed())
}

func crdNames() []string {
	return []string{"policysets.pulumi.com", "programs.pulumi.com", "stacks.pulumi.com"}
}

// addInfrastructure makes by hand what the guide has made by hand, and commits the rest with what apps is for.
func (c *cluster) addInfrastructure(files sources.Files) {
	c.test.Helper()
	meta := metav1.ObjectMeta{Name: namespace}
	c.Expect(c.Create(c.ctx, &corev1.Namespace{ObjectMeta: meta})).To(Succeed())
	c.failAside(files[infrastructureFile])
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pulumi", Namespace: namespace}, StringData: map[string]string{"token": "t0ken"}}
	c.Expect(c.Create(c.ctx, token)).To(Succeed())

	change := sources.Files{
		"infrastructure/production/network.yaml": c.network("network", "10.0.0.0/16", ""),
		"apps/production/app.yaml":               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: infrastructure}\n",
	}
	maps.Copy(change, cut(files, "clusters/production/namespace.yaml"))
	maps.Copy(change, cut(files, infrastructureFile))
	maps.Copy(change, cut(files, appsFile))
	maps.Copy(change, cut(files, "infrastructure/"))
	c.Expect(change).To(HaveLen(7))
	change["infrastructure/production/stacks.yaml"] = c.withBackend(change["infrastructure/production/stacks.yaml"])
	revision := c.commit(change)
	c.reconcile(revision)
	c.awaitApplied("apps", revision)

	for _, stack := range []string{"Stack/names", "Stack/network"} {
		c.inOrder(stack, ready, "Kustomization/infrastructure", ready)
	}
	c.inOrder("Kustomization/infrastructure", readyAt(revision), "ConfigMap/app", exists)
	name, _, err := unstructured.NestedString(c.get(c, stacks, namespace, "names").Object, "status", "outputs", "cluster")
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(name).To(ContainSubstring("-"), "the output that the guide shows")
	c.Expect(c.networks()).To(Equal([]string{"10.0.0.0/16"}))
}

// withBackend makes the guide's Stack keep its state here instead of in Pulumi Cloud.
func (c *cluster) withBackend(text string) string {
	c.test.Helper()
	const pulumiCloud, variables = "  backend: https://api.pulumi.com\n", "  envRefs:\n"
	c.Expect(strings.Count(text, pulumiCloud)).To(Equal(1))
	c.Expect(strings.Count(text, variables)).To(Equal(1))
	text = strings.Replace(text, pulumiCloud, "  backend: file://"+c.path("backend")+"\n", 1)
	return strings.Replace(text, variables, variables+"    PULUMI_CONFIG_PASSPHRASE: {type: Literal, literal: {value: passphrase}}\n", 1)
}

// network is a Program and a Stack whose work can be seen in a cloud, and fails on request. It follows the guide's.
func (c *cluster) network(name, addresses, failure string) string {
	return `apiVersion: pulumi.com/v1
kind: Program
metadata: {name: ` + name + `, namespace: infrastructure}
program:
  configuration:
    addresses: {type: String}
    failure: {type: String}
  resources:
    network:
      type: lab:index:Thing
      properties: {name: ` + name + `, value: "${addresses}", failures: {create: "${failure}", update: "${failure}"}}
---
apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: ` + name + `, namespace: infrastructure}
spec:
  stack: production
  backend: file://` + c.path("backend") + `
  programRef: {name: ` + name + `}
  dependsOn: [{name: names}]
  destroyOnFinalize: true
  interval: 1h
  config: {"lab:directory": "` + c.path("cloud") + `", addresses: "` + addresses + `", failure: "` + failure + `"}
  envRefs:
    PULUMI_CONFIG_PASSPHRASE: {type: Literal, literal: {value: passphrase}}
`
}

// networks returns the networks in the cloud.
func (c *cluster) networks() []string {
	c.test.Helper()
	things, err := c.cloud.Things()
	c.Expect(err).NotTo(HaveOccurred())
	addresses := []string{}
	for _, thing := range things {
		addresses = append(addresses, *thing.Value)
	}
	return addresses
}

// failAndMend has a run fail that is tried again: Flux waits for it, here for an hour, unless there is a newer commit.
func (c *cluster) failAndMend() {
	c.test.Helper()
	const networkFile, failure = "infrastructure/production/network.yaml", "there are no addresses left"
	failing := c.commit(sources.Files{networkFile: c.network("network", "10.1.0.0/16", failure)})
	c.reconcile(failing)
	c.Eventually(func(g Gomega) {
		stack := conditions.UnstructuredGetter(c.get(g, stacks, namespace, "network"))
		g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal("UpdateFailed"))
		g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring(failure))
	}).Should(Succeed())
	c.Eventually(func(g Gomega) {
		waiting := conditions.UnstructuredGetter(c.kustomization(g, "infrastructure"))
		g.Expect(conditions.IsUnknown(waiting, meta.ReadyCondition)).To(BeTrue())
		g.Expect(conditions.GetMessage(waiting, meta.ReconcilingCondition)).To(
			Equal("Running health checks for revision " + failing + " with a timeout of 1h0m0s"))
	}).Should(Succeed())

	mended := c.commit(sources.Files{networkFile: c.network("network", "10.2.0.0/16", "")})
	c.reconcile(mended)
	c.awaitApplied("apps", mended)
	c.Expect(c.networks()).To(Equal([]string{"10.2.0.0/16"}))
	c.inOrder("Stack/network", func(m moment) bool { return ready(m) && addressesOf(m.object) == "10.2.0.0/16" },
		"Kustomization/infrastructure", readyAt(mended))
	for _, name := range []string{"infrastructure", "apps"} {
		c.Expect(c.history.first("Kustomization/"+name, readyAt(failing))).To(BeZero(), name)
	}
}

func addressesOf(stack *unstructured.Unstructured) string {
	addresses, _, _ := unstructured.NestedString(stack.Object, "spec", "config", "addresses")
	return addresses
}

// failAside has Flux apply a Stack that fails from another repository, in which no commit comes in between: Flux allows no
// timeout of less than 30 seconds, and the test continues in the meantime.
func (c *cluster) failAside(infrastructure string) {
	c.test.Helper()
	repo, err := c.git.NewRepo(c.ctx, "aside")
	c.Expect(err).NotTo(HaveOccurred())
	alone := strings.Replace(c.network("aside", "10.3.0.0/16", "there are no addresses left"), "  dependsOn: [{name: names}]\n", "", 1)
	_, err = repo.Commit(c.ctx, sources.Files{"infrastructure/production/aside.yaml": alone}, "first")
	c.Expect(err).NotTo(HaveOccurred())
	source := fluxObject("source.toolkit.fluxcd.io/v1", "GitRepository", "aside")
	source.Object["spec"] = map[string]any{"interval": "1h", "url": repo.URL(), "ref": map[string]any{"branch": sources.Branch}}
	c.Expect(c.Create(c.ctx, source)).To(Succeed())
	for _, object := range c.objectsOf(infrastructure) {
		object.SetName("aside")
		c.Expect(unstructured.SetNestedField(object.Object, "aside", "spec", "sourceRef", "name")).To(Succeed())
		c.Expect(unstructured.SetNestedField(object.Object, "30s", "spec", "timeout")).To(Succeed())
		c.Expect(c.Create(c.ctx, object)).To(Succeed())
	}
}

// awaitTimeout waits for the timeout of what failAside has started.
func (c *cluster) awaitTimeout() {
	c.test.Helper()
	c.awaitFailure("aside", And(MatchRegexp("^health check failed after [3-9][0-9]"),
		ContainSubstring("timeout waiting for: [Stack/infrastructure/aside status: 'InProgress']")))
	aside := fluxKustomization("aside")
	c.Expect(c.Delete(c.ctx, aside)).To(Succeed())
	c.awaitGone(aside)
	c.Expect(c.networks()).To(BeEmpty())
}

// awaitFailure waits until the Kustomization has failed with such a message, and the chat has received it.
func (c *cluster) awaitFailure(name string, message types.GomegaMatcher) {
	c.test.Helper()
	c.Eventually(func(g Gomega) {
		object := conditions.UnstructuredGetter(c.kustomization(g, name))
		g.Expect(conditions.GetReason(object, meta.ReadyCondition)).To(Equal(meta.HealthCheckFailedReason))
		g.Expect(conditions.IsFalse(object, meta.ReadyCondition)).To(BeTrue())
		g.Expect(conditions.GetMessage(object, meta.ReadyCondition)).To(message)
	}).Should(Succeed())
	c.Eventually(c.chat.messages).Should(ContainElement(message))
}

// stall commits a common mistake: a Stack that uses Flux's own source, which is in another namespace.
func (c *cluster) stall() {
	c.test.Helper()
	c.reconcile(c.commit(sources.Files{"infrastructure/production/app.yaml": `apiVersion: pulumi.com/v1
kind: Stack
metadata: {name: app, namespace: infrastructure}
spec:
  stack: production
  backend: file://` + c.path("backend") + `
  fluxSource: {sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
`}))
	c.awaitFailure("infrastructure", ContainSubstring("failed early due to stalled resources: [Stack/infrastructure/app status: 'Failed'"))
}

// removeInfrastructure makes Flux prune the Stacks and waits until nothing is left of them.
func (c *cluster) removeInfrastructure() {
	c.test.Helper()
	c.reconcile(c.remove(infrastructureFile, appsFile))
	c.awaitGone(fluxKustomization("infrastructure"))
	c.inOrder("Stack/network", gone, "Stack/names", gone)
	for _, stack := range []string{"Stack/app", "Stack/names", "Stack/network"} {
		c.inOrder(stack, gone, "Kustomization/infrastructure", gone)
	}
	c.Expect(c.networks()).To(BeEmpty())
	for _, project := range []string{"names", "network"} {
		c.Expect(c.path("backend", ".pulumi", "stacks", project, "production.json")).NotTo(BeAnExistingFile())
	}
}

// removeController is the last step of the guide.
func (c *cluster) removeController() {
	c.test.Helper()
	c.reconcile(c.remove(controllerFile))
	for _, name := range []string{"pulumi-controller", "pulumi-controller-crds"} {
		c.awaitGone(fluxKustomization(name))
	}
	c.inOrder("Deployment/pulumi-controller", exists, "Deployment/pulumi-controller", gone)
	for _, name := range crdNames() {
		c.Expect(c.get(c, crds, "", name).GetDeletionTimestamp()).To(BeNil())
	}
}

func fluxKustomization(name string) *unstructured.Unstructured {
	return fluxObject(kustomizations.GroupVersion().String(), kustomizations.Kind, name)
}

func fluxObject(apiVersion, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(name)
	object.SetNamespace(fluxSystem)
	return object
}

func (c *cluster) awaitGone(object *unstructured.Unstructured) {
	c.test.Helper()
	c.Eventually(func() bool {
		return apierrors.IsNotFound(c.Get(c.ctx, client.ObjectKeyFromObject(object), object))
	}).Should(BeTrue(), "%s is still there", object.GetName())
}
