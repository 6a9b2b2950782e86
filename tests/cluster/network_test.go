// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/cluster/node"
)

func TestTheRemainsOfANodeTakeNoOtherNodesInterface(t *testing.T) {
	if os.Getenv("E2E") == "" || os.Getenv("KUBECONFIG") != "" {
		t.Skip("this needs a machine that can have a Kubernetes node: run `make e2e` without a KUBECONFIG")
	}
	g := NewWithT(t)
	killed, alive := node.Spec{Dir: filepath.Join(t.TempDir(), "killed")}, node.Spec{Dir: filepath.Join(t.TempDir(), "alive")}
	g.Expect(plugCable(t.Context(), &killed)).To(Succeed())
	g.Expect(exec.CommandContext(t.Context(), "ip", "link", "delete", killed.Interface()).Run()).To(Succeed())
	g.Expect(plugCable(t.Context(), &alive)).To(Succeed())
	t.Cleanup(func() { _ = pullCable(context.WithoutCancel(t.Context()), alive) })
	g.Expect(alive.Number).To(Equal(killed.Number), "the number is free again")

	g.Expect(end(t.Context(), killed)).To(Succeed())
	_, err := net.InterfaceByName(alive.Interface())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(end(t.Context(), alive)).To(Succeed())
	_, err = net.InterfaceByName(alive.Interface())
	g.Expect(err).To(HaveOccurred())
}
