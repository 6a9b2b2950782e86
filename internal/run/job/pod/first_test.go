// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"os"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAnyStopSignalOfAnImageStopsTheRun(t *testing.T) {
	for _, sent := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGUSR1, syscall.Signal(37)} {
		NewWithT(t).Expect(isToEnd(sent)).To(BeTrue(), sent.String())
	}
	for _, sent := range []os.Signal{syscall.SIGCHLD, syscall.SIGURG} {
		NewWithT(t).Expect(isToEnd(sent)).To(BeFalse(), sent.String())
	}
}
