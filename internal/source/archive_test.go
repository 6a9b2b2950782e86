// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
)

// entry is an entry of an archive. Without a type it is a file with the body.
type entry struct {
	name, body, link string
	kind             byte
	mode             int64
	pax              map[string]string
}

// tarOf returns a tar archive of the entries.
func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	g := NewWithT(t)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Mode: e.mode, PAXRecords: e.pax, Size: int64(len(e.body))}
		if e.mode == 0 {
			header.Mode = 0o644
		}
		if e.kind == 0 {
			header.Typeflag = tar.TypeReg
		}
		if e.kind == tar.TypeXGlobalHeader {
			header = &tar.Header{Name: e.name, Typeflag: e.kind, PAXRecords: e.pax}
		}
		g.Expect(w.WriteHeader(header)).To(Succeed())
		_, err := io.WriteString(w, e.body)
		g.Expect(err).ToNot(HaveOccurred())
	}
	g.Expect(w.Close()).To(Succeed())
	return out.Bytes()
}

// gzipped compresses a text.
func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	g := NewWithT(t)
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	g.Expect(err).ToNot(HaveOccurred())
	g.Expect(w.Close()).To(Succeed())
	return out.Bytes()
}

// archiveOf returns a tar.gz archive of the entries.
func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	return gzipped(t, tarOf(t, entries...))
}

// overflow returns an archive of a few hundred bytes whose entries claim one byte more
// than an int64 holds: a file of 1 byte, and a sparse one that is a single hole.
func overflow(t testing.TB) []byte {
	t.Helper()
	first := tarOf(t, entry{name: "a", body: "x"})
	first = first[:1024] // without the two blocks that end an archive
	// GNU sparse format 1.0: the data starts with the map. It has no entries here, so the
	// file is one hole as long as its real size.
	var second bytes.Buffer
	records := ""
	for _, record := range [][2]string{
		{"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"},
		{"GNU.sparse.name", "b"}, {"GNU.sparse.realsize", "9223372036854775807"},
	} {
		records += paxRecord(record[0], record[1])
	}
	second.Write(rawHeader("PaxHeaders/b", 'x', len(records)))
	second.Write(padded([]byte(records)))
	second.Write(rawHeader("GNUSparseFile/b", '0', 512))
	second.Write(padded([]byte("0\n")))
	return gzipped(t, append(append(first, second.Bytes()...), make([]byte, 1024)...))
}

// paxRecord returns a record of an extended header, whose length includes itself.
func paxRecord(key, value string) string {
	for n := len(key) + len(value); ; n++ {
		record := fmt.Sprintf("%d %s=%s\n", n, key, value)
		if len(record) == n {
			return record
		}
	}
}

// rawHeader returns a ustar header that archive/tar would refuse to write.
func rawHeader(name string, kind byte, size int) []byte {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x000000000\x000000000\x00")
	copy(block[124:], fmt.Sprintf("%011o\x00", size))
	copy(block[136:], "00000000000\x00        ")
	block[156] = kind
	copy(block[257:], "ustar\x0000")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return block
}

// padded pads data to a full block.
func padded(data []byte) []byte {
	return append(data, make([]byte, (512-len(data)%512)%512)...)
}

// digestOf returns the digest of an archive.
func digestOf(archive []byte) string {
	sum := sha256.Sum256(archive)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// serve runs a server for the test and returns its URL.
func serve(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// serveArchive serves the archive under every path.
func serveArchive(t testing.TB, archive []byte) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(archive) // some tests disconnect
	})
}
