// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

func TestOrphans(t *testing.T) {
	g := NewWithT(t)
	g.Expect(adoptOrphans()).To(Succeed())
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })

	t.Run("a process left behind is waited for, counted, and its CPU time is in the account", func(t *testing.T) {
		g := NewWithT(t)
		before := reapedCPU(t)
		// It outlives its parent, which does not wait, and then counts for a while.
		left(t, `i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done`)
		g.Expect(reapOrphans(t.Context(), nil)).To(Equal(1))
		g.Expect(reapedCPU(t)).To(BeNumerically(">", before))
	})
	t.Run("a child that is known is left alone", func(t *testing.T) {
		g := NewWithT(t)
		pid := left(t, `exec sleep 60`)
		g.Expect(reapOrphans(t.Context(), map[int]bool{pid: true})).To(BeZero())
		g.Expect(endOrphans()).To(Succeed())
		g.Expect(unix.Kill(pid, 0)).To(MatchError(unix.ESRCH))
	})
}

// left starts a shell that leaves the script running in another process, and returns the
// PID of that.
func left(t *testing.T, script string) int {
	t.Helper()
	g := NewWithT(t)
	out, err := exec.Command("/bin/sh", "-c", `(`+script+`) >/dev/null 2>&1 & echo $!`).Output()
	g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	g.Expect(err).NotTo(HaveOccurred())
	return pid
}

func reapedCPU(t *testing.T) int64 {
	t.Helper()
	var usage unix.Rusage
	NewWithT(t).Expect(unix.Getrusage(unix.RUSAGE_CHILDREN, &usage)).To(Succeed())
	return int64(used(usage))
}
