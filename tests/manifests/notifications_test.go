// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// schemaDelay is how long an API server may keep the old schema of a CRD.
const schemaDelay = 2 * time.Minute

// testNotificationKinds installs one version of Flux after the other. The last is the one that the other tests expect.
func testNotificationKinds(t *testing.T, server *api) {
	both := []string{"Alert v1beta3", "Alert v1beta2", "Receiver v1", "Receiver v1beta2"}
	t.Run("Flux 2.8 as it is refuses them", func(t *testing.T) {
		g := NewWithT(t)
		crds, err := controlplane.NotificationCRDs(controlplane.Flux27)
		g.Expect(err).NotTo(HaveOccurred())
		paths, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(paths).To(HaveLen(2))
		for _, path := range paths {
			server.applyFile(t, path, "kustomize-controller")
		}
		server.namesInNotifications(t, both, MatchError(ContainSubstring(`Unsupported value: "Stack"`)), "Stack")
		server.namesInNotifications(t, both, MatchError(ContainSubstring(`Unsupported value: "Program"`)), "Program")
	})
	t.Run("Flux 2.8 with its component", func(t *testing.T) {
		server.applyFile(t, built(t, controlplane.Flux27), "kustomize-controller")
		server.namesInNotifications(t, both, Succeed(), "Stack", "Program", "GitRepository", "Kustomization")
		server.namesInNotifications(t, both, MatchError(ContainSubstring(`Unsupported value: "Deployment"`)), "Deployment")
	})
	t.Run("Flux 2.9 with its component", func(t *testing.T) {
		server.applyFile(t, built(t, controlplane.Flux29), "kustomize-controller")
		server.namesInNotifications(t, []string{"Alert v1beta3", "Receiver v1"}, Succeed(), "Stack", "Program", "GitRepository", "Kustomization")
	})
	t.Run("Flux 2.9 by flux install", func(t *testing.T) { testKindsAfterFluxInstall(t, server) })
}

// testKindsAfterFluxInstall applies Flux as flux install does, and then as the guide to alerts says.
func testKindsAfterFluxInstall(t *testing.T, server *api) {
	g := NewWithT(t)
	const resources = "resources: [install.yaml]"
	dir, blocks := besideConfig(t, "guides/alerts.md")
	page := textOf(t, "guides/alerts.md")
	g.Expect(page).To(ContainSubstring("`" + resources + "`"))
	apply := regexp.MustCompile(`(?m)^ *flux install --export >install\.yaml\n *kubectl (apply .*)$`).FindStringSubmatch(page)
	g.Expect(apply).NotTo(BeNil())
	g.Expect(os.CopyFS(filepath.Join(dir, "notifications"), os.DirFS(filepath.Join(dir, "..", "config", "notifications")))).To(Succeed())
	for name, text := range map[string]string{
		"install.yaml":       crdsOfFlux29(t),
		"kustomization.yaml": resources + "\n" + theOne(t, blocks, "components:\n"),
	} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}

	both := []string{"Alert v1beta3", "Receiver v1"}
	server.applyFile(t, filepath.Join(dir, "install.yaml"), "flux")
	server.namesInNotifications(t, both, MatchError(ContainSubstring(`Unsupported value: "Stack"`)), "Stack")
	kubectl, err := process.FindBin("kubectl")
	g.Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(t.Context(), kubectl, append(strings.Fields(apply[1]), "--kubeconfig="+server.kubeconfig)...)
	command.Dir = dir
	output, err := command.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", output)
	server.namesInNotifications(t, both, Succeed(), "Stack", "Program")
	g.Expect(string(output)).To(ContainSubstring("clusterrolebinding.rbac.authorization.k8s.io/pulumi-controller-notifications "))
}

// crdsOfFlux29 returns what matters here of Flux's own manifests.
func crdsOfFlux29(t *testing.T) (all string) {
	t.Helper()
	g := NewWithT(t)
	crds, err := controlplane.NotificationCRDs(controlplane.Flux29)
	g.Expect(err).NotTo(HaveOccurred())
	paths, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, path := range paths {
		crd, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		all += "---\n" + string(crd)
	}
	return all
}

// TestTheComponentOfAnotherFluxFails, instead of leaving a version as it is or adding to another one.
func TestTheComponentOfAnotherFluxFails(t *testing.T) {
	for _, test := range []struct{ crds, component controlplane.FluxMinor }{
		{controlplane.Flux27, controlplane.Flux29}, {controlplane.Flux29, controlplane.Flux27},
	} {
		_, err := controlplane.BuildNotifications(t.Context(), t.TempDir(), test.crds, test.component)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("testing value /spec/versions/0/name failed")))
	}
}

// TestThePagesOnFluxItselfGoTogether adds what the guide to alerts shows to the file of the guide to bootstrap, and
// expects the effect of both.
func TestThePagesOnFluxItselfGoTogether(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, blocks := besideConfig(t, "guides/flux-bootstrap.md")
	_, added := besideConfig(t, "guides/alerts.md")
	g.Expect(os.CopyFS(filepath.Join(dir, "notifications"), os.DirFS(filepath.Join(dir, "..", "config", "notifications")))).To(Succeed())
	components := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\n" +
		"spec: {template: {spec: {containers: [{name: manager, args: [--log-level=info]}]}}}\n" + crdsOfFlux29(t)
	whole := theOne(t, blocks, "  - gotk-components.yaml\n") + theOne(t, added, "components:\n")
	_, err := Unit{Name: "both", Text: whole}.Objects()
	g.Expect(err).NotTo(HaveOccurred(), "no field is in both, or the last one would take the place of the other")
	for name, text := range map[string]string{
		"kustomization.yaml":   whole,
		"gotk-components.yaml": components,
		"gotk-sync.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sync}\n",
	} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	objects := builtOf(t, dir)
	g.Expect(deploymentsIn(t, objects)[0].Spec.Template.Spec.Containers[0].Args).To(
		Equal([]string{"--log-level=info", "--feature-gates=CancelHealthCheckOnNewRevision=true"}))
	g.Expect(objects).To(ContainElement(HaveField("Object", HaveKeyWithValue("kind", "ClusterRole"))), "the component is there")
}

func built(t *testing.T, minor controlplane.FluxMinor) (path string) {
	t.Helper()
	path, err := controlplane.BuildNotifications(t.Context(), t.TempDir(), minor, minor)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return path
}

// applyFile applies the objects of a file, as kustomize-controller would those of flux-system, or flux install its own.
func (a *api) applyFile(t *testing.T, path string, as client.FieldOwner) {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := Unit{Name: path, Text: string(text)}.Objects()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).NotTo(BeEmpty())
	for _, object := range objects {
		g.Expect(a.strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
			as, client.ForceOwnership)).To(Succeed())
	}
}

// namesInNotifications creates an object of each of the kinds, given as "Alert v1beta3", for each of the kinds it names.
func (a *api) namesInNotifications(t *testing.T, kinds []string, matcher types.GomegaMatcher, names ...string) {
	t.Helper()
	g := NewWithT(t)
	namespace := a.namespace(t)
	for _, kind := range kinds {
		for _, name := range names {
			g.Eventually(func() error {
				return a.strict.Create(t.Context(), notification(namespace, kind, name))
			}, schemaDelay, 50*time.Millisecond).Should(matcher, "%s of a %s", kind, name)
		}
	}
}

func notification(namespace, kindAndVersion, of string) *unstructured.Unstructured {
	kind, version, _ := strings.Cut(kindAndVersion, " ")
	named := []any{map[string]any{"kind": of, "name": "app"}}
	spec := map[string]any{"eventSources": named, "providerRef": map[string]any{"name": "slack"}}
	if kind == "Receiver" {
		spec = map[string]any{"resources": named, "type": "generic", "secretRef": map[string]any{"name": "token"}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "notification.toolkit.fluxcd.io/" + version,
		"kind":       kind,
		"metadata":   map[string]any{"namespace": namespace, "generateName": "test-"},
		"spec":       spec,
	}}
}
