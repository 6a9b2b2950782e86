// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package readonly

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// Root may remove files from any directory.
func TestRemoveAll(t *testing.T) {
	g := NewWithT(t)
	root := filepath.Join(t.TempDir(), "root")
	module := filepath.Join(root, "pkg", "mod", "example.com", "a@v1.0.0")
	g.Expect(os.MkdirAll(module, 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(module, "a.go"), nil, 0o400)).To(Succeed())
	for _, dir := range []string{module, filepath.Dir(module)} {
		g.Expect(os.Chmod(dir, 0o500)).To(Succeed())
	}
	g.Expect(RemoveAll(root)).To(Succeed())
	g.Expect(root).NotTo(BeADirectory())
	g.Expect(RemoveAll(root)).To(Succeed(), "also twice")
}
