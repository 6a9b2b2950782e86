// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

// shell has the shell of an administrator run what is typed. It notices each command that fails, and does not wait for ever.
func (t *tenant) shell(dir, typed string) (output string, err error) {
	t.test.Helper()
	kubectl, err := process.FindBin("kubectl")
	t.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-e", "-u", "-o", "pipefail", "-c", typed)
	command.Dir = dir
	command.Env = []string{
		"HOME=" + t.dir, "KUBECONFIG=" + t.ControlPlane.KubeconfigPath(), "PATH=" + filepath.Dir(kubectl) + ":/usr/bin:/bin",
	}
	// With the commands that the shell waits for.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	printed, err := command.CombinedOutput()
	return string(printed), err
}

// types runs a command of a page for an object of the current namespace.
func (t *tenant) types(command string) {
	t.test.Helper()
	t.Expect(command).To(HavePrefix("kubectl "))
	output, err := t.shell(t.dir, strings.Replace(command, "kubectl ", "kubectl --namespace="+t.namespace+" ", 1))
	t.Expect(err).NotTo(HaveOccurred(), "%s: %s", command, output)
}
