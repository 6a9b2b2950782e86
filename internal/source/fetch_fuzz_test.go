// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"archive/tar"
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// FuzzFetchArchive fetches arbitrary bytes as an archive, and arbitrary bytes compressed
// as one, to exercise the tar part as well as gzip. In any case nothing is created
// outside the directory, only files and directories within the bounds are created, and
// after an error nothing is left.
func FuzzFetchArchive(f *testing.F) {
	for _, seed := range [][]byte{
		tarOf(f, entry{name: "Pulumi.yaml", body: "name: a\n"}, entry{name: "infra/", kind: tar.TypeDir, mode: 0o755}),
		tarOf(f, entry{name: "../evil", body: "x"}),
		tarOf(f, entry{name: "..", body: "x"}, entry{name: "a/..", kind: tar.TypeDir}),
		tarOf(f, entry{name: "l", kind: tar.TypeSymlink, link: "/"}, entry{name: "l/evil", body: "x"}),
		tarOf(f, entry{name: "a", body: "x"}, entry{name: "b", kind: tar.TypeLink, link: "a"}),
		tarOf(f, entry{name: "g", kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "c"}}),
		tarOf(f, entry{name: strings.Repeat("long/", 60) + "name", body: "x"}),
		{}, []byte("not an archive"),
	} {
		f.Add(seed, true)
	}
	f.Add(archiveOf(f, entry{name: "a", body: strings.Repeat("0", 4096)}), false)
	f.Add(overflow(f), false)

	var served atomic.Pointer[[]byte]
	url := serve(f, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(*served.Load()) })
	options := source.Options{MaxDownload: 1 << 20, MaxUntar: 256 << 10, MaxEntries: 20}
	fetcher := source.New(options)
	f.Fuzz(func(t *testing.T, archive []byte, compress bool) {
		g := NewWithT(t)
		if compress {
			archive = gzipped(t, archive)
		}
		served.Store(&archive)
		outside := t.TempDir()
		parent := filepath.Join(outside, "a", "b")
		g.Expect(os.MkdirAll(parent, 0o700)).To(Succeed())
		dir := filepath.Join(parent, "program")

		err := fetcher.Fetch(context.Background(), run.Artifact{URL: url, Digest: digestOf(archive)}, dir)

		size, entries := int64(0), 0
		g.Expect(filepath.WalkDir(outside, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == outside || path == filepath.Dir(parent) || path == parent || path == dir {
				return err
			}
			g.Expect(path).To(HavePrefix(dir + "/"))
			g.Expect(d.Type()&^fs.ModeDir).To(BeZero(), "%s is neither a file nor a directory", path)
			if info, err := d.Info(); err == nil && !d.IsDir() {
				size += info.Size()
			}
			entries++
			return nil
		})).To(Succeed())
		g.Expect(size).To(BeNumerically("<=", options.MaxUntar))
		g.Expect(entries).To(BeNumerically("<=", options.MaxEntries))
		if err != nil {
			g.Expect(err).To(MatchError(source.ErrArchive))
			g.Expect(len(err.Error())).To(BeNumerically("<", 2048))
			g.Expect(dir).ToNot(BeAnExistingFile())
		}
	})
}
