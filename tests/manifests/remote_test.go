// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// atGitHub matches the directories of config/ as pages refer to them.
var atGitHub = regexp.MustCompile(`(?:https://)?github\.com/flux-pulumi/pulumi-controller//(config/[\w/.-]+)\?ref=main`)

// local makes a kustomization.yaml of a page refer to the directories beside it.
func local(text string) string { return atGitHub.ReplaceAllString(text, "../$1") }

// TestInstallationsOfPages builds each kustomization.yaml that a page shows for the controller.
func TestInstallationsOfPages(t *testing.T) {
	t.Parallel()
	const ownImage = "registry.example.com/pulumi-controller:1"
	const noQuota = "path: /spec/template/spec/priorityClassName\n"
	const own = "--events-addr=http://notification-controller.flux-system.svc.cluster.local./"
	for _, test := range []struct {
		name, page string
		// has is the text that only this block has; beside, that of another block, saved as rights.yaml.
		has, beside string
		image       string
		// last is the last flag, and adds what the page says in words to add to the block.
		last, namespace, adds string
	}{
		{name: "with kubectl", page: "installation.md", has: "config/default?ref=main\nimages:\n",
			image: ownImage, last: "--data-dir=/data", namespace: "flux-system"},
		{name: "without the priority class", page: "installation.md", has: noQuota,
			image: "ghcr.io/flux-pulumi/pulumi-controller:latest", last: "--data-dir=/data", namespace: "flux-system"},
		{name: "in another namespace", page: "installation.md", has: "value: " + own,
			image: "ghcr.io/flux-pulumi/pulumi-controller:latest", last: own, adds: "namespace: another", namespace: "another"},
		{name: "runs as Jobs", page: "runners.md", has: "/config/runner-jobs?ref=main\n",
			image: ownImage, last: "--runner=job", namespace: "flux-system"},
		{name: "a controller of a team", page: "guides/multi-tenancy.md", has: "  - rights.yaml\n", beside: "name: pulumi-controller-itself\n",
			image: ownImage, last: own, namespace: "team-a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			dir, blocks := besideConfig(t, test.page)
			shown := theOne(t, blocks, test.has)
			if test.adds != "" {
				g.Expect(textOf(t, test.page)).To(ContainSubstring("`" + test.adds + "`"))
				shown = test.adds + "\n" + shown
			}
			if !strings.Contains(shown, "kind: Kustomization\n") {
				shown = "resources: [../config/default]\n" + shown
			}
			g.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(local(shown)), 0o600)).To(Succeed())
			if test.beside != "" {
				g.Expect(os.WriteFile(filepath.Join(dir, "rights.yaml"), []byte(theOne(t, blocks, test.beside)), 0o600)).To(Succeed())
			}
			objects := builtOf(t, dir)
			expectRightsIn(g, objects, test.namespace)
			deployments := deploymentsIn(t, objects)
			g.Expect(deployments).To(HaveLen(1))
			g.Expect(deployments[0].Namespace).To(Equal(test.namespace))
			pod := deployments[0].Spec.Template.Spec
			g.Expect(pod.Containers[0].Image).To(Equal(test.image))
			g.Expect(pod.Containers[0].Args[len(pod.Containers[0].Args)-1]).To(Equal(test.last))
			g.Expect(pod.PriorityClassName == "").To(Equal(test.has == noQuota))
		})
	}
}

// expectRightsIn expects the account in the namespace, its rights on that namespace there, and every binding to name it.
func expectRightsIn(g *WithT, objects []*unstructured.Unstructured, namespace string) {
	there := map[string]bool{}
	for _, object := range objects {
		what := object.GetKind() + " " + object.GetName()
		switch object.GetKind() {
		case "ServiceAccount", "Role", "RoleBinding":
			there[object.GetKind()] = true
			g.Expect(object.GetNamespace()).To(Equal(namespace), what)
		}
		if strings.HasSuffix(object.GetKind(), "RoleBinding") { // ClusterRoleBinding, too
			g.Expect(at(g, object, "subjects")).To(ConsistOf(map[string]any{
				"kind": "ServiceAccount", "name": "pulumi-controller", "namespace": namespace,
			}), what)
		}
	}
	g.Expect(there).To(HaveLen(3))
}

// textOf returns a page of docs/.
func textOf(t *testing.T, page string) string {
	t.Helper()
	g := NewWithT(t)
	root, err := process.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	g.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// theOne returns the only block with the text.
func theOne(t *testing.T, blocks []Unit, text string) (found string) {
	t.Helper()
	for _, block := range blocks {
		if strings.Contains(block.Text, text) {
			NewWithT(t).Expect(found).To(BeEmpty(), "two blocks have %q", text)
			found = block.Text
		}
	}
	NewWithT(t).Expect(found).NotTo(BeEmpty(), "no block has %q", text)
	return found
}
