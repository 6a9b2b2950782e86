// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"testing"

	"github.com/fluxcd/pkg/testserver"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	. "github.com/onsi/gomega"
)

func TestPublisherServesWhatItReports(t *testing.T) {
	g := NewWithT(t)
	p := &publisher{
		server: &testserver.ArtifactServer{HTTPServer: testserver.NewHTTPServer(t.TempDir())},
		object: &sourcev1.ExternalArtifact{},
	}
	p.server.Start()
	defer p.server.Stop()
	revisions := map[string]bool{}
	for _, greeting := range []string{"one", "two"} {
		g.Expect(p.serveGreeting(greeting)).To(Succeed())
		artifact := p.object.Status.Artifact
		archive, err := scrape(t.Context(), http.DefaultClient, artifact.URL)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(artifact.Digest).To(Equal(fmt.Sprintf("sha256:%x", sha256.Sum256(archive))))
		g.Expect(*artifact.Size).To(BeEquivalentTo(len(archive)))
		revisions[artifact.Revision] = true
	}
	g.Expect(revisions).To(HaveLen(2), "another program is another revision, or no run would start")
}
