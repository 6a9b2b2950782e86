// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// removerVariable makes the test binary remove a directory as another user.
const removerVariable = "REMOVE_THIS_DIRECTORY"

// Go's module cache has read-only directories, which do not stop root.
func TestReadOnlyDirectoriesOfARunAreRemoved(t *testing.T) {
	g := NewWithT(t)
	if dir := os.Getenv(removerVariable); dir != "" {
		g.Expect(writeProtected(dir)).To(Succeed())
		g.Expect(os.RemoveAll(dir)).NotTo(Succeed(), "it would not need to be made writable")
		g.Expect(Directory(dir).Clear()).To(Succeed())
		g.Expect(Directory(dir).home()).NotTo(BeADirectory())
		g.Expect(Directory(dir).Remove()).To(Succeed())
		g.Expect(dir).NotTo(BeADirectory())
		return
	}
	place, err := os.MkdirTemp("/tmp", "write-protected-")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(os.RemoveAll(place)).To(Succeed()) })
	// Use a copy, as other users may be unable to read the test binary.
	remover := filepath.Join(place, "remover")
	text, err := os.ReadFile("/proc/self/exe")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(remover, text, 0o755)).To(Succeed())
	g.Expect(os.Chmod(place, 0o777)).To(Succeed())

	command := exec.CommandContext(t.Context(), remover, "-test.run=^"+t.Name()+"$")
	command.Env = []string{removerVariable + "=" + filepath.Join(place, "run")}
	command.Dir = place
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	said, err := command.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(said))
}

func writeProtected(dir string) error {
	module := filepath.Join(Directory(dir).home(), "go", "pkg", "mod", "example.org", "x@v1.0.0")
	if err := os.MkdirAll(module, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(module, "x.go"), nil, 0o400); err != nil {
		return err
	}
	for _, path := range []string{module, filepath.Dir(module)} {
		if err := os.Chmod(path, 0o500); err != nil {
			return err
		}
	}
	return nil
}
