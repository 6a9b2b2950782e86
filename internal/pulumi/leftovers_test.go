// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
)

// Its parent has ended, and it has a process group and session of its own.
func TestAnOrphanIsFoundAndEnded(t *testing.T) {
	g := NewWithT(t)
	id := t.Name() + strconv.Itoa(os.Getpid())
	parent := exec.Command("/bin/sh", "-c", "setsid sleep 60 >/dev/null 2>&1 &")
	parent.Env = []string{"PATH=/usr/bin:/bin", grammar.RunVariable + "=" + id, "NOT_" + grammar.RunVariable + "=" + id + "-1"}
	g.Expect(parent.Run()).To(Succeed())
	g.Eventually(func() (int, error) { return Alive(id) }).Should(Equal(1))
	g.Expect(Alive(id + "-1")).To(BeZero())
	g.Expect(endLeftovers(id, 10*time.Second)).To(Equal(1))
	g.Expect(Alive(id)).To(BeZero())
}
