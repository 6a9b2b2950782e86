// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
)

// uninstall types what docs/installation.md says, with a Stack that stays and what components have added, installs the
// controller again, which takes up the Stack, and removes all.
func (w *world) uninstall() {
	m := *w
	m.prepareMany("kept")
	m.bringUpOne("kept")
	added := m.components()
	m.kubectl("apply", "--server-side", "-k", added)
	page, err := os.ReadFile(filepath.Join(m.root, "docs", "installation.md"))
	m.Expect(err).NotTo(HaveOccurred())
	_, section, found := strings.Cut(string(page), "\n## Uninstall\n")
	m.Expect(found).To(BeTrue())
	var commands []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		commands = append(commands, strings.TrimSpace(block[1]))
	}
	m.Expect(commands).To(HaveLen(3))

	m.types(commands[0])
	m.types(commands[1])
	for _, built := range []string{"config/controller", added} {
		m.Expect(m.kubectl("get", "--ignore-not-found", "-o", "name", "-k", built)).To(BeEmpty(), built)
	}
	stack := m.stackNow(m, "kept")
	m.Expect(conditions.IsReady(stack)).To(BeTrue())
	m.Expect(stack.DeletionTimestamp.IsZero()).To(BeTrue())

	m.kubectl("apply", "--server-side", "--force-conflicts", "-k", "config/default")
	m.rolledOut(controller)
	m.kubectl("--namespace", m.tenant, "delete", "stack", "kept", "--timeout="+patience.String())
	for _, command := range commands {
		m.types(command)
	}
	m.Expect(m.kubectl("get", "--ignore-not-found", "-o", "name", "-k", "config/default")).To(BeEmpty())
	m.kubectl("delete", "namespace", m.tenant, "--timeout="+patience.String())
}

// components writes a kustomization.yaml of all that components add to the controller, without the controller itself, whose
// Stack would run again with other flags, and returns its directory.
func (w *world) components() string {
	w.test.Helper()
	dir := w.test.TempDir()
	at := func(path string) string {
		relative, err := filepath.Rel(dir, filepath.Join(w.root, "config", filepath.FromSlash(path)))
		w.Expect(err).NotTo(HaveOccurred())
		return relative
	}
	w.Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [`+at("controller")+`]
components: [`+at("runner-jobs")+`, `+at("notifications/flux-2.9")+`]
patches:
  - target: {kind: Deployment}
    patch: |
      $patch: delete
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: any}
`), 0o644)).To(Succeed())
	return dir
}

// types runs a block of a page.
func (w *world) types(block string) {
	w.test.Helper()
	w.Expect(block).To(HavePrefix("kubectl "))
	output, err := w.command("/bin/sh", "-ec", block).CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), "%s: %s", block, output)
}
