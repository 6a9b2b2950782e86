// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	. "github.com/onsi/gomega"
)

func TestWatchesPart(t *testing.T) {
	g := NewWithT(t)
	all := runtimectrl.WatchOptions{AllNamespaces: true}
	shard := runtimectrl.WatchOptions{AllNamespaces: true, LabelSelector: "sharding.fluxcd.io/key=one"}
	g.Expect(Config{Watch: all}.watchesPart()).To(BeFalse())
	g.Expect(Config{Watch: shard, NoCrossNamespaceRefs: true}.watchesPart()).To(BeTrue())
	g.Expect(Config{}.watchesPart()).To(BeTrue())
	g.Expect(Config{NoCrossNamespaceRefs: true}.watchesPart()).To(BeFalse())
}
