// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"

	. "github.com/onsi/gomega"
)

// pluginsPod mounts the plugins of an administrator instead of those in the image.
const pluginsPod = `{"workspaceTemplate": {"spec": {"podTemplate": {"spec": {
	"volumes": [{"name": "cloud", "persistentVolumeClaim": {"claimName": "cloud"}}, {"name": "plugins", "persistentVolumeClaim": {"claimName": "plugins", "readOnly": true}}],
	"containers": [{"name": "pulumi", "volumeMounts": [{"name": "cloud", "mountPath": "/cloud"}, {"name": "plugins", "mountPath": "/pulumi-plugins", "readOnly": true}]}]}}}}}`

// sharePlugins has a run take its plugin from a volume that it may only read, as docs/guides/jobs.md says. The volume hides those
// in the image, and no server has the plugin.
func (w *world) sharePlugins() {
	w.needsNode()
	dir := filepath.Join(w.node.Dir(), "plugins-"+w.tenant)
	w.localVolume("plugins-"+w.tenant, w.tenant, "plugins", dir)
	w.claim(w.tenant, "plugins")
	w.Expect(os.Mkdir(filepath.Join(dir, "lost+found"), 0o700)).To(Succeed()) // no run may read it
	plugin := filepath.Join(dir, "resource-lab-v0.1.0")
	w.Expect(os.Mkdir(plugin, 0o755)).To(Succeed())
	text, err := os.ReadFile(filepath.Join(w.root, "bin", "lab", "pulumi-resource-lab"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(os.WriteFile(filepath.Join(plugin, "pulumi-resource-lab"), text, 0o755)).To(Succeed())

	updates := w.counts([]string{"third"})
	w.patchStack("third", pluginsPod)
	w.setValue("third", "shared", 0)
	w.awaitValue("third", "shared")
	w.updatedOnce("third", updates["third"])

	left, err := os.ReadDir(dir)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(left).To(HaveLen(2), "the runs have written nothing there")
}
