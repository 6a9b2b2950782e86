// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
)

// TestMoreShardsAreNoWayAroundTheComponents builds what installation.md shows for a shard of one's own. A tenant chooses
// the shard of a Stack, so the components must reach each controller.
func TestMoreShardsAreNoWayAroundTheComponents(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	dir, blocks := besideConfig(t, "installation.md")
	shard2(t, dir)
	g.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(local(theOne(t, blocks, "  - shard2\n"))), 0o600)).To(Succeed())
	objects := builtOf(t, dir)
	expectRightsIn(g, objects, "flux-system")

	selectors, apps := map[string]string{}, map[string]bool{}
	for _, deployment := range deploymentsIn(t, objects) {
		expectLockedDown(g, deployment)
		g.Expect(flag(deployment, "--default-service-account=")).To(BeEmpty(), "no account that other pods have")
		expectArgsAreTaken(t, deployment)
		selectors[deployment.Name] = flag(deployment, "--watch-label-selector=")
		apps[deployment.Spec.Selector.MatchLabels["app"]] = true
		g.Expect(deployment.Namespace).To(Equal("flux-system"))
		g.Expect(deployment.Spec.Template.Labels["app"]).To(Equal(deployment.Name))
		g.Expect(deployment.Spec.Template.Spec.ServiceAccountName).To(Equal("pulumi-controller"))
		g.Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example.com/pulumi-controller:1"))
	}
	g.Expect(selectors).To(Equal(map[string]string{
		"pulumi-controller":        "!sharding.fluxcd.io/key",
		"pulumi-controller-shard1": "sharding.fluxcd.io/key=shard1",
		"pulumi-controller-shard2": "sharding.fluxcd.io/key=shard2",
	}))
	g.Expect(apps).To(HaveLen(3), "none selects the pods of another")
}

// shard2 copies shard1 as the page says.
func shard2(t *testing.T, dir string) {
	t.Helper()
	g := NewWithT(t)
	const manager, address = "../../manager", "github.com/flux-pulumi/pulumi-controller//config/manager?ref=main"
	page := strings.Join(strings.Fields(textOf(t, "installation.md")), " ")
	g.Expect(page).To(ContainSubstring("replace `shard1` everywhere by `shard2`, and `" + manager + "` by the address `" + address + "`"))
	text, err := os.ReadFile(filepath.Join(dir, "..", "config", "sharding", "shard1", "kustomization.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	copied := strings.NewReplacer("shard1", "shard2", manager, "../"+local(address)).Replace(string(text))
	g.Expect(os.Mkdir(filepath.Join(dir, "shard2"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "shard2", "kustomization.yaml"), []byte(copied), 0o600)).To(Succeed())
}

// expectLockedDown expects the flags of config/multi-tenancy.
func expectLockedDown(g *WithT, deployment *appsv1.Deployment) {
	g.Expect(deployment.Spec.Template.Spec.Containers[0].Args).To(ContainElements(
		"--runner=job", "--no-cross-namespace-refs=true", "--allow-controller-refs=false",
		"--default-service-account=default", "--concurrent-runs-per-namespace=2"), deployment.Name)
}

// flag returns the value of a flag, given as --name=. The last one counts.
func flag(deployment *appsv1.Deployment, name string) string {
	for _, arg := range slices.Backward(deployment.Spec.Template.Spec.Containers[0].Args) {
		if value, ok := strings.CutPrefix(arg, name); ok {
			return value
		}
	}
	return ""
}
