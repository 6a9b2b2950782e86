// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
	"github.com/flux-pulumi/pulumi-controller/tests/rights"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// team is the namespace in the guide.
const team = "team-a"

// TestAControllerOfATeam has a controller that serves one namespace go through the lives of Stacks, with the rights that
// the guide to multi-tenancy gives it there, and none elsewhere.
func TestAControllerOfATeam(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	g := NewWithT(t)
	plane, err := shared.own.get(filepath.Join(shared.dir, "own"))
	g.Expect(err).NotTo(HaveOccurred())
	hasATeam(t.Context(), g, plane)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(plane.WriteAccountKubeconfig(t.Context(), kubeconfig, team, system.Account)).To(Succeed())
	w := startOwn(t, team, system.Options{Namespace: team, Kubeconfig: kubeconfig})

	u := moveInto(t, w, team)
	t.Cleanup(u.leave)
	u.liveOnARepository()
	u.liveOnAProgram()
	u.waitForSources()
	requests, err := plane.Requests(controllerOf(team))
	g.Expect(err).NotTo(HaveOccurred())
	// By this the client finds out whether the server limits it. It is in no namespace, so no RoleBinding can grant it, and
	// the answer that it is forbidden tells as much. PolicySets are for a controller of the cluster.
	g.Expect(rights.Forbidden(requests)).To(HaveEach(Or(Equal("head /livez/ping in "), Equal("list policysets.pulumi.com in "))), "what the guide does not grant")
}

// hasATeam creates the namespace of the team, with what the guide gives to its controller.
func hasATeam(ctx context.Context, g *WithT, plane *controlplane.ControlPlane) {
	api, err := client.New(plane.RESTConfig(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}})).To(Succeed())
	// The Role in the same file is for the namespace of Flux.
	clusterRole, _, _ := strings.Cut(textOf(g, "config/rbac/role.yaml"), "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n")
	rights := slices.DeleteFunc(pageOf(g, "guides/multi-tenancy.md").fenced("A controller for each team", "yaml"), func(block string) bool {
		return !strings.Contains(block, "name: pulumi-controller-itself\n")
	})
	g.Expect(rights).To(HaveLen(1))
	for _, text := range append(rights, clusterRole) {
		objects, err := manifests.Unit{Text: text}.Objects()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(objects).NotTo(BeEmpty())
		for _, object := range objects {
			g.Expect(api.Create(ctx, object)).To(Succeed())
		}
	}
}

func controllerOf(team string) string { return "system:serviceaccount:" + team + ":" + system.Account }
