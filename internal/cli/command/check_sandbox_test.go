// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/flux-pulumi/pulumi-controller/tests/podlogs"
)

const (
	withSandbox    = `{"level":"info","msg":"local runs are in a sandbox","landlock":7}`
	withoutSandbox = `{"level":"info","msg":"local runs have no sandbox: the kernel has no Landlock. Programs can read the token"}`
)

func TestCheckSaysWhetherTheNodeHasASandbox(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "check-sandbox")
	var log atomic.Pointer[string]
	node, err := podlogs.Start(t.Context(), w.api, podlogs.Options{
		Node: "node-check-sandbox", Namespace: w.namespace, Pod: "pulumi-controller-0",
		Log: func() ([]byte, error) { return []byte(*log.Load()), nil },
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		node.Stop()
		_ = w.api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-check-sandbox"}})
	})
	w.deployAsIfByKubernetes()
	for text, row := range map[string]string{
		"starting\n" + withSandbox + "\n":        "► pulumi-controller: local runs are in a sandbox\n",
		"starting\n" + withoutSandbox + "\n":     "⚠️ pulumi-controller: local runs have no sandbox: the kernel has no Landlock. Programs can read the token\n",
		`{"msg":"the beginning is gone"}` + "\n": "► pulumi-controller: local runs are in a sandbox where the kernel has Landlock: the log of",
	} {
		log.Store(&text)
		g.Expect(w.run("check").err).To(ContainSubstring(row))
	}
}

func TestSandboxLine(t *testing.T) {
	for name, tt := range map[string]struct {
		log, want string
		found     bool
	}{
		"in one":              {withSandbox + "\n", "local runs are in a sandbox", true},
		"without a line feed": {withSandbox, "local runs are in a sandbox", true},
		"none":                {"panic: a\n\n" + withoutSandbox + "\n" + withSandbox + "\n", "local runs have no sandbox: the kernel has no Landlock. Programs can read the token", true},
		"long":                {`{"msg":"local runs have no sandbox: ` + strings.Repeat("a", maxStart/2) + `"}`, "local runs have no sandbox: " + strings.Repeat("a", maxSaid-28-len("...")) + "...", true},
		"cut":                 {withSandbox[:30], "", false},
		"of another":          {`{"msg":"a program says: local runs are in a sandbox"}`, "", false},
		"nothing":             {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			text, found := sandboxLine(strings.NewReader(tt.log))
			NewWithT(t).Expect(found).To(Equal(tt.found))
			NewWithT(t).Expect(text).To(Equal(tt.want))
		})
	}
}
