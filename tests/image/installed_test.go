// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// TestInstalledProgramsAreNotUsed builds with a go that only writes a file, where programs of the pinned version are
// installed. A link to one could not be packed, and each machine would test another program.
func TestInstalledProgramsAreNotUsed(t *testing.T) {
	const version = "v3.274.1"
	script, err := filepath.Abs(filepath.Join(repository, "hack", "build-tool.sh"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	names := []string{"pulumi", "pulumi-language-yaml", "etcd", "kube-apiserver"}
	installed := t.TempDir()
	writeProgram(t, filepath.Join(installed, "go"), `case $1 in
list) echo `+version+` ;;
env) echo amd64 ;;
build)
	while [ "$1" != -o ]; do shift; done
	echo built >"$2"
	;;
esac`)
	for _, name := range names {
		writeProgram(t, filepath.Join(installed, name), "echo "+version)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.MkdirAll(filepath.Join(dir, "hack", "tools", "pulumi"), 0o755)).To(Succeed())
			out := filepath.Join(dir, "bin", name)
			g.Expect(os.Mkdir(filepath.Dir(out), 0o755)).To(Succeed())
			g.Expect(os.Symlink(filepath.Join(installed, name), out)).To(Succeed(), "what an earlier build left")
			command := exec.Command(script, "bin/"+name, "hack/tools/pulumi", "example.com/package", "example.com/module", "a second")
			command.Dir = dir
			command.Env = append(os.Environ(), "PATH="+installed+":"+os.Getenv("PATH"), "KUBEBUILDER_ASSETS="+installed)
			said, err := command.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred(), string(said))
			info, err := os.Lstat(out)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(info.Mode().IsRegular()).To(BeTrue(), string(said))
			g.Expect(os.ReadFile(out)).To(BeEquivalentTo("built\n"))
			g.Expect(os.ReadFile(filepath.Join(installed, name))).NotTo(BeEquivalentTo("built\n"), "it is written through the link")
		})
	}
}

func writeProgram(t *testing.T, file, text string) {
	t.Helper()
	NewWithT(t).Expect(os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o755)).To(Succeed())
}
