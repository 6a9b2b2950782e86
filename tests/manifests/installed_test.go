// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const partOf = "app.kubernetes.io/part-of"

// installations maps each directory of config/ to its objects, also with the components for it on top.
type installations map[string][]*unstructured.Unstructured

// TestInstallations checks the installations without an API server.
func TestInstallations(t *testing.T) {
	t.Parallel()
	all := everyInstallation(t)
	t.Run("labels keep apart what flux uninstall may delete and what it must not", func(t *testing.T) { testLabels(t, all) })
	t.Run("Flux substitutes no variables of others", func(t *testing.T) { testVariables(t, all) })
	t.Run("a controller has its shard and no other", func(t *testing.T) { testShards(t, all) })
	t.Run("a controller that is locked down gives nobody its rights", func(t *testing.T) { testLockdown(t, all) })
	t.Run("roles for users allow what the pages say", func(t *testing.T) { testAggregated(t, all) })
	t.Run("the kubelet asks each controller for its health", func(t *testing.T) { testProbes(t, all) })
	t.Run("the PodMonitor finds the pods", func(t *testing.T) { testPodMonitor(t, all) })
	t.Run("Flux finds what it is to apply", func(t *testing.T) { testFluxPaths(t, all) })
	t.Run("the pages on it show what there is", func(t *testing.T) { testInstallationShown(t, all) })
	t.Run("under the lockdown of Flux its Kustomizations have an account", func(t *testing.T) { testFluxLockdown(t, all) })
	t.Run("the health of a Stack is what its conditions say", func(t *testing.T) { testHealthChecks(t, all) })
}

// testInstallation applies everything for users in config/, in a namespace with the strictest Pod Security Standard.
func testInstallation(t *testing.T, server *api) {
	g := NewWithT(t)
	g.Expect(server.lenient.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "flux-system", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})).To(Succeed())
	for name, objects := range everyInstallation(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(objects).NotTo(BeEmpty())
			for _, object := range objects {
				server.install(t, object)
			}
		})
	}
}

func everyInstallation(t *testing.T) installations {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	dirs, components, err := Kustomizations(root)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(dirs).To(ContainElements("config/crd", "config/rbac", "config/manager", "config/controller", "config/default", "config/flux",
		"config/sharding", "config/monitoring", "config/notifications/alerts", "config/notifications/rbac", "config/approvals", "config/approvals/separation"))
	// Those for notifications build on Flux's own objects, in another test.
	g.Expect(components).To(ConsistOf("config/multi-tenancy", "config/runner-images", "config/runner-jobs", "config/runner-jobs/removed", "config/runner-jobs/rights",
		"config/notifications/flux-2.7", "config/notifications/flux-2.9"))
	all := installations{}
	objects := func(unit Unit, err error) []*unstructured.Unstructured {
		g.Expect(err).NotTo(HaveOccurred())
		all[unit.Name], err = unit.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		return all[unit.Name]
	}
	add := func(dir string, components ...string) {
		built := objects(Build(t.Context(), root, t.TempDir(), dir, components...))
		if len(components) > 0 {
			g.Expect(objects(BuildAsFlux(t.Context(), root, t.TempDir(), dir, components...))).To(ConsistOf(built), "%s with %v", dir, components)
		}
	}
	for _, dir := range dirs {
		add(dir)
	}
	for _, dir := range []string{"config/default", "config/controller", "config/sharding"} {
		add(dir, "config/multi-tenancy")
		add(dir, "config/runner-jobs")
		add(dir, "config/multi-tenancy", "config/runner-jobs")
		add(dir, "config/runner-jobs", "config/multi-tenancy")
		add(dir, "config/runner-jobs", "config/runner-images")
	}
	return all
}

// install applies an object as kustomize-controller would.
func (a *api) install(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	if isForKustomize(object) {
		return
	}
	applied := object.DeepCopy()
	if applied.GetNamespace() == "" && a.namespaced(t, applied) {
		applied.SetNamespace("flux-system") // like kubectl apply --namespace
	}
	g.Expect(a.strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied),
		client.FieldOwner("kustomize-controller"), client.ForceOwnership)).To(Succeed(), "%s %s", object.GetKind(), object.GetName())
	if object.GetKind() == "ValidatingAdmissionPolicyBinding" { // it is for the whole server
		t.Cleanup(func() {
			g.Expect(client.IgnoreNotFound(a.strict.Delete(context.WithoutCancel(t.Context()), object))).To(Succeed())
		})
	}
	if object.GetKind() == "Deployment" {
		deployment := deploymentOf(t, applied)
		g.Expect(a.strict.Create(t.Context(), podOf(deployment), client.DryRunAll)).To(Succeed(), "the pod of the Deployment")
		expectArgsAreTaken(t, deployment)
	}
}

// expectArgsAreTaken runs the controller itself with the arguments.
func expectArgsAreTaken(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	g := NewWithT(t)
	controller, err := process.FindBin("pulumi-controller")
	g.Expect(err).NotTo(HaveOccurred())
	args := deployment.Spec.Template.Spec.Containers[0].Args
	given := map[string]string{}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		// What another component sets can only be taken back by the same flag once more.
		if before, again := given[name]; again && value != "" {
			g.Expect(value).To(Equal(before), "%s is given twice", name)
		}
		given[name] = value
	}
	// Flags are parsed in order, so those before the last are accepted if it is reached.
	output, err := exec.CommandContext(t.Context(), controller, append(args, "--help")...).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", output)
	output, err = exec.CommandContext(t.Context(), controller, append(args, "--no-such-flag", "--help")...).CombinedOutput()
	g.Expect(err).To(HaveOccurred(), "%s", output)
}

func testLabels(t *testing.T, all installations) {
	g := NewWithT(t)
	for _, name := range []string{"config/default", "config/sharding", "config/notifications/rbac", "config/approvals", "config/approvals/separation"} {
		for _, object := range all[name] {
			what := object.GetKind() + " " + object.GetName()
			g.Expect(object.GetLabels()).To(HaveKeyWithValue("app.kubernetes.io/component", "pulumi-controller"), what)
			g.Expect(object.GetLabels()).To(HaveKeyWithValue("app.kubernetes.io/instance", "flux-system"), what)
			if object.GetKind() == "CustomResourceDefinition" {
				g.Expect(object.GetLabels()).NotTo(HaveKey(partOf), "flux uninstall deletes the CRDs that have it")
				g.Expect(object.GetAnnotations()).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/prune", "disabled"), what)
				g.Expect(object.GetAnnotations()).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/substitute", "disabled"), what)
				continue
			}
			g.Expect(object.GetLabels()).To(HaveKeyWithValue(partOf, "flux"), "flux check and flux logs find the controllers by it: %s", what)
			if object.GetKind() == "Deployment" {
				g.Expect(deploymentOf(t, object).Spec.Template.Labels).To(HaveKeyWithValue(partOf, "flux"), what)
			}
		}
	}
}

// testVariables looks for text that a Flux Kustomization with spec.postBuild would take for a variable: it fails if that
// is not set.
func testVariables(t *testing.T, all installations) {
	g := NewWithT(t)
	found := 0
	for name, objects := range all {
		for _, object := range objects {
			text, err := object.MarshalJSON()
			g.Expect(err).NotTo(HaveOccurred())
			if bytes.Contains(text, []byte("${")) {
				found++
				g.Expect(object.GetAnnotations()).To(HaveKeyWithValue("kustomize.toolkit.fluxcd.io/substitute", "disabled"), "%s %s of %s",
					object.GetKind(), object.GetName(), name)
			}
		}
	}
	g.Expect(found).NotTo(BeZero(), "the dashboard has some")
}

// testShards also checks that no Deployment selects the pods of another.
func testShards(t *testing.T, all installations) {
	g := NewWithT(t)
	selectors := map[string]string{}
	apps := map[string]string{}
	for _, object := range all["config/sharding with config/multi-tenancy with config/runner-jobs"] {
		if object.GetKind() != "Deployment" {
			continue
		}
		deployment := deploymentOf(t, object)
		expectLockedDown(g, deployment)
		for _, arg := range deployment.Spec.Template.Spec.Containers[0].Args {
			if selector, ok := strings.CutPrefix(arg, "--watch-label-selector="); ok {
				selectors[deployment.Name] = selector
			}
		}
		apps[deployment.Name] = deployment.Spec.Selector.MatchLabels["app"]
		g.Expect(deployment.Spec.Template.Labels["app"]).To(Equal(apps[deployment.Name]))
		g.Expect(deployment.Spec.Template.Spec.ServiceAccountName).To(Equal("pulumi-controller"))
	}
	g.Expect(selectors).To(Equal(map[string]string{
		"pulumi-controller": "!sharding.fluxcd.io/key", "pulumi-controller-shard1": "sharding.fluxcd.io/key=shard1",
	}))
	g.Expect(apps).To(Equal(map[string]string{
		"pulumi-controller": "pulumi-controller", "pulumi-controller-shard1": "pulumi-controller-shard1",
	}))
}

func testLockdown(t *testing.T, all installations) {
	g := NewWithT(t)
	aggregated := func(objects []*unstructured.Unstructured) (to []string) {
		for _, object := range objects {
			for label := range object.GetLabels() {
				if role, ok := strings.CutPrefix(label, "rbac.authorization.k8s.io/aggregate-to-"); ok {
					to = append(to, object.GetName()+" to "+role)
				}
			}
		}
		return to
	}
	view := []string{"pulumi-view to view", "pulumi-view to edit", "pulumi-view to admin"}
	g.Expect(aggregated(all["config/controller"])).To(ConsistOf(append([]string{"pulumi-edit to edit", "pulumi-edit to admin"}, view...)))
	for _, name := range []string{"config/default", "config/controller", "config/sharding"} {
		objects := all[name+" with config/multi-tenancy"]
		g.Expect(aggregated(objects)).To(ConsistOf(view), name)
		for _, object := range objects {
			if object.GetKind() == "Deployment" {
				expectLockedDown(g, deploymentOf(t, object))
			}
		}
		// It contains runner-jobs, and may be beside it all the same.
		for _, order := range []string{" with config/multi-tenancy with config/runner-jobs", " with config/runner-jobs with config/multi-tenancy"} {
			g.Expect(names(all[name+order])).To(ConsistOf(names(objects)), name+order)
		}
		g.Expect(names(objects)).To(ContainElements("ClusterRole/pulumi-controller-jobs", "ClusterRoleBinding/pulumi-controller-jobs",
			"NetworkPolicy/allow-pulumi-runs"), name)
	}
}

func names(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		names = append(names, object.GetKind()+"/"+object.GetName())
	}
	return names
}

func deploymentOf(t *testing.T, object *unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	NewWithT(t).Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment)).To(Succeed())
	return deployment
}

func podOf(deployment *appsv1.Deployment) *corev1.Pod {
	template := deployment.Spec.Template
	template.ObjectMeta.Name, template.ObjectMeta.Namespace = deployment.Name, deployment.Namespace
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}
