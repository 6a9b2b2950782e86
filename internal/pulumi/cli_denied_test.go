// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// notForPrograms is a directory that this user can read and write, and a program in the sandbox cannot.
func (l *lab) notForPrograms() string {
	l.Helper()
	if l.driver.Sandbox == nil {
		l.Skip("the kernel has no sandbox")
	}
	dir, err := os.MkdirTemp("", "denied-")
	l.Expect(err).NotTo(HaveOccurred())
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	l.Expect(os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600)).To(Succeed())
	return dir
}

func TestAFailureNamesWhatTheSandboxKeepsFromAProgram(t *testing.T) {
	t.Parallel()
	l := newLab(t).withProvider()
	dir := l.notForPrograms()
	file := filepath.Join(dir, "file")
	reads := func() run.Result {
		return l.do(t.Context(), l.update("outputs: {a: {\"fn::readFile\": "+file+"}}\n"))
	}
	const keeps = " (the sandbox of local runs keeps programs from "
	result := reads()
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(And(ContainSubstring("permission denied"),
		ContainSubstring(keeps+file), ContainSubstring("--sandbox-write-paths")))

	l.driver.Sandbox.Own = []string{dir}
	l.Expect(reads().Message).To(HaveSuffix(keeps + file + ", which is the controller's, and no flag allows it)"))

	l.driver.Sandbox = nil
	l.Expect(reads().Outcome).To(Equal(run.Succeeded), "it was only the sandbox")
}

func TestAFailedInstallationNamesWhatTheSandboxKeepsFromAScript(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	l := newLab(t).withNode()
	kept := filepath.Join(l.notForPrograms(), "made")
	l.driver.Snapshots = snapshot.New(t.TempDir(), 1<<30)
	dir, r := l.sourced(installs(`"scripts": {"preinstall": "mkdir $KEPT"}`))
	r.Env["KEPT"] = kept
	result := l.doWritten(t.Context(), dir, r)
	l.Expect(result.Outcome).To(Equal(run.Failed))
	l.Expect(result.Message).To(And(HavePrefix(installing+": "), ContainSubstring("Permission denied"),
		ContainSubstring(" (the sandbox of local runs keeps programs from "+kept), ContainSubstring("--sandbox-write-paths")))
}
