// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"archive/tar"
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

func TestReadOfFiles(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	archive := archiveOf(t, entry{name: "./a/Pulumi.yaml", body: "name: a\n"}, entry{name: "Pulumi.yaml", body: "name: root\n"},
		entry{name: "a/index.ts", body: "x"}, entry{name: "a/link", kind: tar.TypeSymlink, link: "Pulumi.yaml"}, entry{name: "a/long", body: "0123456789"})
	names := []string{"a/Pulumi.yaml", "a/long", "a/link", "a/none"}
	want := map[string][]byte{"a/Pulumi.yaml": []byte("name: a\n"), "a/long": []byte("01234567")}
	for _, artifact := range []run.Artifact{
		{URL: serveArchive(t, archive) + "/a.tar.gz", Digest: digestOf(archive)}, {Archive: archive, Digest: digestOf(archive)},
	} {
		g.Expect(source.New(tight()).Read(t.Context(), artifact, names, 8)).To(Equal(want))
	}
	g.Expect(filepath.Glob(filepath.Join(os.TempDir(), "*"))).To(BeEmpty(), "nothing is written")
}

func TestReadRefusesArchives(t *testing.T) {
	g := NewWithT(t)
	good := archiveOf(t, entry{name: "Pulumi.yaml", body: "name: a\n"})
	o := source.Options{MaxDownload: 4 << 10, MaxUntar: 64 << 10}
	for name, tt := range map[string]struct {
		archive []byte
		digest  string
		want    string
	}{
		"no archive":        {[]byte("<html>"), "", "it could not be unpacked"},
		"an archive's half": {good[:len(good)/2], "", "it could not be unpacked: unexpected EOF"},
		"another digest":    {good, digestOf([]byte("x")), "its content does not match the digest"},
		"no digest":         {good, "sha256:1", `the digest "sha256:1" of the artifact cannot be verified`},
		"a bomb":            {archiveOf(t, entry{name: "a", body: strings.Repeat("0", 100<<10)}), "", "it could not be unpacked: it is too big"},
		"a big download":    {append(bytes.Clone(good), make([]byte, 5<<10)...), "", "it exceeds the limit of a download"},
	} {
		artifact := run.Artifact{URL: serveArchive(t, tt.archive) + "/a.tar.gz?token=CANARY", Digest: tt.digest}
		if artifact.Digest == "" {
			artifact.Digest = digestOf(tt.archive)
		}
		files, err := source.New(o).Read(t.Context(), artifact, []string{"Pulumi.yaml"}, 1<<20)
		g.Expect(err).To(MatchError(source.ErrArchive), name)
		g.Expect(err).To(MatchError(And(ContainSubstring(tt.want), Not(ContainSubstring("CANARY")))), name)
		g.Expect(files).To(BeNil())
	}
}

func TestReadFromAServerThatFails(t *testing.T) {
	g := NewWithT(t)
	status := http.StatusNotFound
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte{0x1f, 0x8b})
		if r.URL.Query().Has("hang") {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
	read := func(ctx context.Context, url string) error {
		_, err := source.New(source.Options{Timeout: time.Minute}).Read(ctx, run.Artifact{URL: url, Digest: digestOf(nil)}, []string{"Pulumi.yaml"}, 1)
		return err
	}
	g.Expect(read(ctx, url)).To(MatchError(source.ErrGone))
	status = http.StatusServiceUnavailable
	err := read(ctx, url)
	g.Expect(err).To(MatchError(ContainSubstring("it could not be downloaded: its server answers (503")))
	g.Expect(err).NotTo(MatchError(source.ErrArchive))
	status = http.StatusOK
	err = read(ctx, url)
	g.Expect(err).To(MatchError(HaveSuffix("it could not be downloaded: unexpected EOF")))
	g.Expect(err).NotTo(MatchError(source.ErrArchive), "it was cut off")
	time.AfterFunc(100*time.Millisecond, cancel)
	err = read(ctx, url+"?hang")
	g.Expect(err).To(HaveOccurred())
	g.Expect(err).NotTo(MatchError(source.ErrArchive))
}
