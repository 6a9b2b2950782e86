// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// Its parent has ended, and it has a process group and session of its own.
func TestAnOrphanIsFoundAndEnded(t *testing.T) {
	g := NewWithT(t)
	mark := "MARK=" + t.Name() + strconv.Itoa(os.Getpid())
	parent := exec.Command("/bin/sh", "-c", "setsid sleep 60 >/dev/null 2>&1 &")
	parent.Env = []string{"PATH=/usr/bin:/bin", mark, "NOT_" + mark + "-1"}
	g.Expect(parent.Run()).To(Succeed())
	g.Eventually(func() (int, error) { return CountMarked(mark) }).Should(Equal(1))
	g.Expect(CountMarked(mark + "-1")).To(BeZero())
	g.Expect(EndMarked(mark, 10*time.Second)).To(Equal(1))
	g.Expect(CountMarked(mark)).To(BeZero())
}
