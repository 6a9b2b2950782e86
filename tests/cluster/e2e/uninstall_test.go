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

// uninstall types what docs/installation.md says, with a Stack that stays, installs the controller again, which takes up the
// Stack, and removes all.
func (w *world) uninstall() {
	m := *w
	m.prepareMany("kept")
	m.bringUpOne("kept")
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
	m.Expect(m.kubectl("get", "--ignore-not-found", "-o", "name", "-k", "config/controller")).To(BeEmpty())
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

// types runs a line of a page.
func (w *world) types(line string) {
	w.test.Helper()
	w.Expect(line).To(HavePrefix("kubectl "))
	output, err := w.command("/bin/sh", "-c", line).CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), "%s: %s", line, output)
}
