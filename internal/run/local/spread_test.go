// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

func TestRunsAreSpreadOverTheDisk(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "runs")
	spread(dir)
	spread(dir)
	g.Expect(dir).To(BeADirectory())
	var system unix.Statfs_t
	g.Expect(unix.Statfs(dir, &system)).To(Succeed())
	if system.Type != unix.EXT4_SUPER_MAGIC {
		t.Skip("the directory of the test is not on ext4")
	}
	file, err := os.Open(dir)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = file.Close() }()
	flags, err := unix.IoctlGetUint32(int(file.Fd()), unix.FS_IOC_GETFLAGS)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(flags & topDir).NotTo(BeZero())

	spread(filepath.Join(file.Name(), "is/no/directory\x00"))
}
