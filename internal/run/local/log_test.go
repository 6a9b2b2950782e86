// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
)

func TestTheStartOfARunIsInTheLog(t *testing.T) {
	lines := make(chan string, 100)
	f := newFixture(t, func(o *Options) {
		o.Log = funcr.New(func(_, line string) { lines <- line }, funcr.Options{})
	})
	f.Expect(f.runner.Reserve("ns", "a")).To(BeTrue())
	f.Expect(f.runner.Start(aRun("1", "a"))).To(Succeed())
	f.Eventually(lines).Should(Receive(And(ContainSubstring(`"msg"="update starts"`), ContainSubstring(`"name"="a"`),
		ContainSubstring(`"run"="1"`), ContainSubstring(`"timeout"="1m0s"`))))
	close(f.driver.open)
	f.Eventually(f.ended).Should(Receive(Equal("ns/a")))
}
