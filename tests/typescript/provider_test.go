// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package typescript

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// providerOfItsOwn is a program that makes its Kubernetes provider itself, and names no kubeconfig.
const providerOfItsOwn = `import * as k8s from "@pulumi/kubernetes";

const provider = new k8s.Provider("cluster", { namespace: "default" });
new k8s.core.v1.ConfigMap("settings", { metadata: { name: "settings" }, data: { colour: "blue" } }, { provider });
`

// TestAProviderOfTheProgramFindsTheClusterInEachRun has a home directory for each run, with a kubeconfig in it, as the controller
// does. With a KUBECONFIG for each run, the state would keep the first one, and the destroy would not reach the cluster.
func TestAProviderOfTheProgramFindsTheClusterInEachRun(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	p := newPerson(t)
	dir := p.project("bootstrap-flux-with-pulumi")
	p.Expect(os.WriteFile(filepath.Join(dir, "index.ts"), []byte(providerOfItsOwn), 0o644)).To(Succeed())
	p.build(dir)
	kubeconfig, err := os.ReadFile(p.kubeconfig)
	p.Expect(err).NotTo(HaveOccurred())
	p.kubeconfig = ""
	inAHome := func(command string) map[string]int {
		p.home = filepath.Join(p.dir, "homes", command)
		p.Expect(os.MkdirAll(filepath.Join(p.home, ".kube"), 0o755)).To(Succeed())
		p.Expect(os.WriteFile(filepath.Join(p.home, ".kube", "config"), kubeconfig, 0o600)).To(Succeed())
		defer func() { p.Expect(os.RemoveAll(p.home)).To(Succeed()) }()
		return p.pulumi(dir, command, map[string]setting{})
	}

	p.Expect(inAHome("up")).To(HaveKeyWithValue("create", 3), "the stack, the provider and the ConfigMap")
	p.made("v1", "ConfigMap", "default", "settings")
	p.Expect(p.state("bootstrap-flux")).NotTo(ContainSubstring(p.home))
	p.Expect(inAHome("preview")).To(Equal(map[string]int{"same": 3}))
	p.Expect(inAHome("destroy")).To(HaveKeyWithValue("delete", 3))
	err = p.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "settings"}, &corev1.ConfigMap{})
	p.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
}
