// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"
)

// installPlugins adds the init container of docs/installation.md, and replaces the pod. Its data directory is empty until
// then, and the controller may download nothing.
func (w *world) installPlugins() {
	before := w.pod()
	w.kubectl("apply", "--server-side", "--force-conflicts", "-k", w.withPlugins())
	w.rolledOut(controller)
	w.awaitGone(before)
	w.Expect(w.exec("busybox", "stat", "-c", "%u %a", "/data/plugins/resource-lab-v0.1.0/pulumi-resource-lab")).To(Equal("65534 755\n"))
	w.Expect(w.exec("busybox", "ls", "/data/plugins")).To(Equal("resource-lab-v0.1.0\n"), "and nothing else has put plugins there")

	w.setValue("fromgit", "planted", 0)
	w.awaitValue("fromgit", "planted")
	w.madeOnce("fromgit")
}

// withPlugins returns a directory with the patch of the page, on config/default of the work tree. The image of the tests has
// plugins at the path of the page and a cp, and is started without its script that puts plugins in place.
func (w *world) withPlugins() string {
	w.test.Helper()
	dir, config := w.besideConfig()
	here := strings.NewReplacer("image: registry.example.com/pulumi-plugins:1\n",
		"image: ghcr.io/flux-pulumi/pulumi-controller:latest\n            imagePullPolicy: IfNotPresent\n")
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - " + config + "\n" +
		here.Replace(w.installation("/initContainers\n")) +
		"      - op: add\n        path: /spec/template/spec/containers/0/command\n" +
		`        value: ["/usr/bin/tini", "--", "/usr/local/bin/pulumi-controller"]` + "\n" +
		"      - op: add\n        path: /spec/template/spec/containers/0/args/-\n        value: --sandbox-write-paths=/cloud\n"
	w.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600)).To(Succeed())
	return dir
}
