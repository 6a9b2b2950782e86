// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package image tests the image of the controller: what is in it, and that it works
// on a root that nobody can write to. The image is packed as `make image` does it,
// and unpacked by a library that had no part in that.
package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// repository is the root of this repository.
const repository = "../.."

// pack packs the image and returns the path of the archive.
func pack(t *testing.T) string {
	t.Helper()
	archive := filepath.Join(t.TempDir(), "image.tar")
	command := exec.Command("bin/pack-image", "-o", archive, "-mirrors", os.Getenv("DEBIAN_MIRRORS"))
	command.Dir = repository
	out, err := command.CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("downloading https://")) && !bytes.Contains(out, []byte("SHA-256")) {
		t.Skipf("no archive of Debian is within reach, which two files of the image come from:\n%s", out)
	}
	if err != nil {
		t.Fatalf("packing the image, after `make image`: %v\n%s", err, out)
	}
	return archive
}

// TestImage packs only once for all checks, as it takes seconds.
func TestImage(t *testing.T) {
	short.Skip(t)
	archive := pack(t)
	image, err := tarball.ImageFromPath(archive, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Run("is valid as Docker and as containerd read it", func(t *testing.T) { testValid(t, archive, image) })
	t.Run("is started as the Dockerfile says", func(t *testing.T) { testConfig(t, image) })
	root := t.TempDir()
	files := unpack(t, image, root)
	t.Run("has what it needs and no more", func(t *testing.T) { testContents(t, root, files) })
	t.Run("works on a root that cannot be written", func(t *testing.T) { testRuns(t, root) })
}

// testValid checks all digests and sizes, in both of the formats in the archive.
func testValid(t *testing.T, archive string, docker v1.Image) {
	g := NewWithT(t)
	g.Expect(validate.Image(docker, validate.Fast)).To(Succeed(), "the layers are the same files")

	dir := t.TempDir()
	file, err := os.Open(archive)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = file.Close() }()
	untar(t, file, dir)
	index, err := layout.ImageIndexFromPath(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(validate.Index(index)).To(Succeed())

	manifest, err := index.IndexManifest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(manifest.Manifests).To(HaveLen(1))
	g.Expect(manifest.Manifests[0].Annotations).To(HaveKeyWithValue("io.containerd.image.name", "ghcr.io/flux-pulumi/pulumi-controller:latest"))
	oci, err := index.Image(manifest.Manifests[0].Digest)
	g.Expect(err).NotTo(HaveOccurred())
	theirs, err := docker.ConfigName()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(oci.ConfigName()).To(Equal(theirs), "both forms are the same image")

	var tags []struct{ RepoTags []string }
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Unmarshal(data, &tags)).To(Succeed())
	g.Expect(tags).To(HaveLen(1))
	g.Expect(tags[0].RepoTags).To(ConsistOf("ghcr.io/flux-pulumi/pulumi-controller:latest"))
}

// unpack writes the file system of the image to a directory, and returns the headers of
// all entries.
func unpack(t *testing.T, image v1.Image, to string) map[string]*tar.Header {
	t.Helper()
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	return untar(t, content, to)
}

func untar(t *testing.T, from io.Reader, to string) map[string]*tar.Header {
	t.Helper()
	g := NewWithT(t)
	headers := map[string]*tar.Header{}
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return headers
		}
		g.Expect(err).NotTo(HaveOccurred())
		name := filepath.Clean(header.Name)
		g.Expect(filepath.IsLocal(name)).To(BeTrue(), name)
		headers[name] = header
		place := filepath.Join(to, name)
		switch header.Typeflag {
		case tar.TypeDir:
			g.Expect(os.MkdirAll(place, 0o755)).To(Succeed())
		case tar.TypeSymlink:
			g.Expect(os.Symlink(header.Linkname, place)).To(Succeed())
		default:
			g.Expect(header.Typeflag).To(Equal(byte(tar.TypeReg)), name)
			// The last layer comes first, so a file may come before its directory.
			g.Expect(os.MkdirAll(filepath.Dir(place), 0o755)).To(Succeed())
			file, err := os.OpenFile(place, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(header.Mode).Perm())
			g.Expect(err).NotTo(HaveOccurred())
			_, err = io.Copy(file, archive)
			g.Expect(errors.Join(err, file.Close())).To(Succeed())
		}
	}
}

// lines returns the lines of a file of the repository.
func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range bytes.Lines(data) {
		all = append(all, string(bytes.TrimSpace(line)))
	}
	return all
}
