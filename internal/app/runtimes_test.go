// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/opencontainers/go-digest"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// archiveWith returns an artifact with these files.
func archiveWith(g *WithT, files map[string]string) []byte {
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	packed := tar.NewWriter(zipped)
	for name, text := range files {
		g.Expect(packed.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})).To(Succeed())
		_, err := packed.Write([]byte(text))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(packed.Close()).To(Succeed())
	g.Expect(zipped.Close()).To(Succeed())
	return archive.Bytes()
}

func TestTheRuntimeOfAnArtifact(t *testing.T) {
	const project = "name: app\nruntime: nodejs\n"
	for name, test := range map[string]struct {
		files map[string]string
		dir   string
		want  string
	}{
		"at the root":                 {map[string]string{"Pulumi.yaml": project, "index.ts": "a"}, "", "nodejs"},
		"with options":                {map[string]string{"./Pulumi.yaml": "name: app\nruntime: {name: python, options: {toolchain: uv}}\n"}, "/", "python"},
		"in a directory":              {map[string]string{"Pulumi.yaml": project, "a/b/Pulumi.yaml": "name: app\nruntime: go\n"}, "a/b", "go"},
		"in JSON":                     {map[string]string{"a/Pulumi.json": `{"name": "app", "runtime": "dotnet"}`}, "./a/", "dotnet"},
		"only in the directory above": {map[string]string{"Pulumi.yaml": project, "a/index.ts": ""}, "a", ""},
		"nowhere":                     {map[string]string{"index.ts": project, "Pulumi.dev.yaml": project}, "", ""},
		"in no YAML":                  {map[string]string{"Pulumi.yaml": "{"}, "", ""},
		"in a file that is too big":   {map[string]string{"Pulumi.yaml": project + strings.Repeat("#", 2<<20)}, "", ""},
		"in no runtime":               {map[string]string{"Pulumi.yaml": "name: app\n"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("TMPDIR", "/nowhere") // nothing is written
			archive := archiveWith(g, test.files)
			artifact := run.Artifact{Archive: archive, Digest: digest.FromBytes(archive).String(), Dir: test.dir}
			g.Expect(newRuntimes("").of(t.Context(), artifact)).To(Equal(test.want))
		})
	}
}

func TestTheRuntimeOfAnArtifactIsReadOnce(t *testing.T) {
	g := NewWithT(t)
	archive := archiveWith(g, map[string]string{"Pulumi.yaml": "name: app\nruntime: nodejs\n"})
	status, requests := http.StatusInternalServerError, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, _ = w.Write(archive)
		}
	}))
	t.Cleanup(server.Close)
	artifact := run.Artifact{URL: server.URL + "/a.tar.gz", Digest: digest.FromBytes(archive).String()}
	reader := newRuntimes("")
	_, err := reader.of(t.Context(), artifact)
	g.Expect(err).To(MatchError(HavePrefix("failed to read the runtime of the program: artifact " + artifact.URL)))
	status = http.StatusNotFound
	g.Expect(reader.of(t.Context(), artifact)).To(BeEmpty(), "its run fails and says why")
	status, requests = http.StatusOK, 0
	for range 3 {
		g.Expect(reader.of(t.Context(), artifact)).To(Equal("nodejs"))
	}
	g.Expect(requests).To(Equal(1))
}
