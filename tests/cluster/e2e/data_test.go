// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/manifests"
)

// keepData gives the existing controller the volume of docs/installation.md for its data directory, and replaces its
// pod.
func (w *world) keepData() {
	w.program("onfiles")
	w.apply(strings.Replace(w.stack("onfiles", "  programRef: {name: onfiles}", "one", "0s"), w.backend(), "file:///data/state", 1))
	w.Eventually(func(g Gomega) {
		stack := w.stackNow(g, "onfiles")
		g.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
		g.Expect(conditions.GetMessage(stack, meta.StalledCondition)).To(ContainSubstring("deleted with the pod of the controller"))
	}).Should(Succeed())
	if w.node != nil {
		w.localVolume("data", fluxSystem, "pulumi-controller-data", filepath.Join(w.node.Dir(), "data"))
	}
	before := w.pod()
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", w.withVolume())
	w.rolledOut(controller)
	w.awaitGone(before)
	w.Expect(w.kubectl("--namespace", fluxSystem, "get", "pvc", "pulumi-controller-data", "-o", "jsonpath={.status.phase}")).To(Equal("Bound"))

	w.exec("/bin/sh", "-c", "mkdir /data/state && echo kept >/data/note")
	w.awaitValue("onfiles", "one")
	before = w.beginUpdate("fromgit", "seven")
	w.kubectl("--namespace", fluxSystem, "rollout", "restart", "deployment/"+controller)
	w.rolledOut(controller)
	w.awaitGone(before)
	w.awaitValue("fromgit", "seven")
	w.Expect(w.exec("busybox", "cat", "/data/note")).To(Equal("kept\n"))
	w.madeOnce("fromgit")
}

// withVolume returns a directory with the files of the page, on config/default of the work tree and the image of the
// tests.
func (w *world) withVolume() string {
	w.test.Helper()
	dir, config := w.besideConfig()
	here := strings.NewReplacer("github.com/flux-pulumi/pulumi-controller//config/default?ref=main", config,
		"registry.example.com/pulumi-controller", "ghcr.io/flux-pulumi/pulumi-controller", `newTag: "1"`, "newTag: latest")
	files := map[string]string{"kind: PersistentVolumeClaim\n": "data.yaml", "  - data.yaml\n": "kustomization.yaml"}
	for has, name := range files {
		w.Expect(os.WriteFile(filepath.Join(dir, name), []byte(here.Replace(w.installation(has))), 0o600)).To(Succeed())
	}
	return dir
}

// besideConfig returns an empty directory, and the path to config/default from there. kustomize requires relative paths, and
// resolves symbolic links before it checks them.
func (w *world) besideConfig() (dir, config string) {
	w.test.Helper()
	dir, err := filepath.EvalSymlinks(w.test.TempDir())
	w.Expect(err).NotTo(HaveOccurred())
	config, err = filepath.Rel(dir, filepath.Join(w.root, "config", "default"))
	w.Expect(err).NotTo(HaveOccurred())
	return dir, config
}

// installation returns the block of YAML in docs/installation.md that has the text.
func (w *world) installation(has string) string {
	w.test.Helper()
	page, err := os.ReadFile(filepath.Join(w.root, "docs", "installation.md"))
	w.Expect(err).NotTo(HaveOccurred())
	for _, block := range manifests.FencedBlocks("installation.md", string(page)) {
		if strings.Contains(block.Text, has) {
			return block.Text
		}
	}
	w.test.Fatalf("no block of installation.md has %q", has)
	return ""
}
