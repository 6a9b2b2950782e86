// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// shell has the shell of an administrator run what is typed, which does not wait for ever.
func (t *tenant) shell(dir, typed string) (output string, err error) {
	t.test.Helper()
	kubectl, err := process.FindBin("kubectl")
	t.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return process.Shell(ctx, dir, []string{
		"HOME=" + t.dir, "KUBECONFIG=" + t.ControlPlane.KubeconfigPath(), "PATH=" + filepath.Dir(kubectl) + ":/usr/bin:/bin",
	}, typed)
}

// types runs a command of a page for an object of the current namespace.
func (t *tenant) types(command string) {
	t.test.Helper()
	t.Expect(command).To(HavePrefix("kubectl "))
	output, err := t.shell(t.dir, strings.Replace(command, "kubectl ", "kubectl --namespace="+t.namespace+" ", 1))
	t.Expect(err).NotTo(HaveOccurred(), "%s: %s", command, output)
}
