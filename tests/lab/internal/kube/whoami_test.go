// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// write writes a kubeconfig for the server, with the token, and returns its path.
func write(t *testing.T, server *httptest.Server, token string) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	tokenFile, path := filepath.Join(dir, "token"), filepath.Join(dir, "config")
	g.Expect(os.WriteFile(tokenFile, []byte(token+"\n"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(path, fmt.Appendf(nil, "clusters: [{cluster: {server: %q, certificate-authority-data: %q}}]\nusers: [{user: {tokenFile: %q}}]\n",
		server.URL, base64.StdEncoding.EncodeToString(authority), tokenFile), 0o600)).To(Succeed())
	return path
}

func TestWhoAmI(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/authentication.k8s.io/v1/selfsubjectreviews" || r.Header.Get("Authorization") != "Bearer good" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprint(w, `{"status": {"userInfo": {"username": "alice"}}}`) // the client may be gone
	}))
	t.Cleanup(server.Close)
	g := NewWithT(t)
	g.Expect(WhoAmI(t.Context(), write(t, server, "good"))).To(Equal(Identity{Username: "alice", Token: "good"}))
	_, err := WhoAmI(t.Context(), write(t, server, "bad"))
	g.Expect(err).To(MatchError(ContainSubstring("401 Unauthorized: who are you?")))
	_, err = WhoAmI(t.Context(), "/nowhere")
	g.Expect(err).To(MatchError(ContainSubstring("reading the kubeconfig")))
}
