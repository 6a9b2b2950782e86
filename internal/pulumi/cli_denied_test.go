// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
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

// Pulumi itself may be where programs cannot read it, such as behind a link in --pulumi-dir.
func TestAPulumiThatTheSandboxKeepsFromProgramsIsNamed(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"behind a link":   "",
		"behind a script": "#!/bin/sh\nexec '%s' \"$@\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t).withProvider()
			hidden := filepath.Join(l.notForPrograms(), "pulumi")
			l.Expect(os.Link(realPath(filepath.Join(l.driver.Bin, "pulumi")), hidden)).To(Succeed())
			bin := t.TempDir()
			if script == "" {
				l.Expect(os.Symlink(hidden, filepath.Join(bin, "pulumi"))).To(Succeed())
			} else {
				l.Expect(os.WriteFile(filepath.Join(bin, "pulumi"), fmt.Appendf(nil, script, hidden), 0o755)).To(Succeed())
			}
			l.driver.Bin = bin
			result := l.do(t.Context(), l.update("outputs: {a: b}\n"))
			l.Expect(result.Outcome).To(Equal(run.WorkspaceFailed))
			l.Expect(result.Message).To(And(HavePrefix("starting Pulumi: "), ContainSubstring(": permission denied (the sandbox of local runs keeps programs from "+hidden),
				ContainSubstring("--sandbox-")))
			l.Expect(result.Interrupted).To(BeFalse(), "nothing has happened")

			l.driver.Sandbox.Rules = append(l.driver.Sandbox.Rules, sandbox.Reads(hidden)...)
			l.Expect(l.do(t.Context(), l.update("{}\n")).Message).NotTo(ContainSubstring("starting Pulumi"), "as --sandbox-read-paths")
		})
	}
}
