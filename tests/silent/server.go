// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package silent fakes an API server that accepts connections and never answers.
package silent

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

// Server accepts connections and never answers, until the test ends. It returns the path of
// a kubeconfig for it, and a channel that receives a value for each connection.
func Server(t *testing.T) (kubeconfig string, asked <-chan struct{}) {
	t.Helper()
	g := gomega.NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	connections := make(chan struct{}, 100)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connections <- struct{}{}
			go func() {
				_, _ = io.Copy(io.Discard, connection) // until the client closes the connection
				_ = connection.Close()
			}()
		}
	}()
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	g.Expect(os.WriteFile(kubeconfig, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "http://%s"}}],
		contexts: [{name: a, context: {cluster: a}}]}`, listener.Addr()), 0o600)).To(gomega.Succeed())
	return kubeconfig, connections
}
