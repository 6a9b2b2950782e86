// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"archive/tar"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

func TestFetchUnpacksAnArchiveThatWasBrought(t *testing.T) {
	g := NewWithT(t)
	archive := archiveOf(t, entry{name: "Pulumi.yaml", body: "name: a\n"}, entry{name: "link", kind: tar.TypeSymlink, link: "/etc/passwd"})
	dir := filepath.Join(t.TempDir(), "program")
	g.Expect(source.New(tight()).Fetch(context.Background(), run.Artifact{Archive: archive, Digest: digestOf(archive)}, dir)).To(Succeed())
	g.Expect(filepath.Glob(filepath.Join(dir, "*"))).To(Equal([]string{filepath.Join(dir, "Pulumi.yaml")}), "a link is left out")
	g.Expect(os.ReadFile(filepath.Join(dir, "Pulumi.yaml"))).To(BeEquivalentTo("name: a\n"))
	g.Expect(filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))).To(BeEmpty(), "no temporary directory is left")
}

func TestFetchRefusesArchivesThatWereBrought(t *testing.T) {
	whole := archiveOf(t, entry{name: "a", body: "x"})
	for name, tt := range map[string]struct {
		archive []byte
		digest  string
		want    string
	}{
		"above the directory":  {archiveOf(t, entry{name: "../evil", body: "x"}), "", `invalid name error "../evil"`},
		"a hard link":          {archiveOf(t, entry{name: "b", kind: tar.TypeLink, link: "/etc/passwd"}), "", `its entry "b" is a hard link`},
		"a bomb":               {archiveOf(t, entry{name: "a", body: strings.Repeat("0", 2<<20)}), "", "it exceeds the limit of 1 MiB when unpacked"},
		"too big":              {bytes.Repeat([]byte("x"), 65<<10), "", "it exceeds the limit of 65536 bytes"},
		"nothing at all":       {[]byte{}, "", "it is not a gzip-compressed tar archive"},
		"no archive":           {[]byte("hello"), "", "it is not a gzip-compressed tar archive"},
		"another digest":       {whole, digestOf([]byte("other")), "it does not have the digest sha256:"},
		"no digest":            {whole, "none", "cannot be verified"},
		"one that was cut off": {whole[:len(whole)/2], "", "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "program")
			if tt.digest == "" {
				tt.digest = digestOf(tt.archive)
			}
			err := source.New(tight()).Fetch(context.Background(), run.Artifact{Archive: tt.archive, Digest: tt.digest}, dir)
			g.Expect(err).To(MatchError(source.ErrArchive))
			g.Expect(err).To(MatchError(HavePrefix("the program that was brought: ")))
			g.Expect(err).To(MatchError(ContainSubstring(tt.want)))
			g.Expect(err.Error()).ToNot(ContainSubstring(filepath.Dir(dir)), "no path of this machine")
			expectNothingLeft(g, dir)
		})
	}
}
