// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// writeArchive writes the image as an OCI layout in a tar archive, with the manifest.json
// that older versions of Docker need. It reads back what it wrote, and prints what that
// is.
func writeArchive(o options, image v1.Image, out io.Writer) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(o.archive), "image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	reference, err := name.NewTag(o.name)
	if err != nil {
		return fmt.Errorf("the name of the image: %w", err)
	}
	written, err := writeLayout(filepath.Join(dir, "layout"), image, reference)
	if err != nil {
		return err
	}
	part := filepath.Join(dir, "archive")
	if err := tarDirectory(part, filepath.Join(dir, "layout"), o); err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	if err := os.Rename(part, o.archive); err != nil {
		return err
	}
	info, err := os.Stat(o.archive)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s for linux/%s, %d MB, %s\n", o.archive, o.name, o.arch, info.Size()/1e6, written)
	return err
}

// writeLayout writes the files of the archive and returns the digest of the image.
func writeLayout(dir string, image v1.Image, reference name.Tag) (v1.Hash, error) {
	digest, err := image.Digest()
	if err != nil {
		return digest, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return digest, err
	}
	path, err := layout.Write(dir, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
		Platform: config.Platform(),
		Annotations: map[string]string{
			// The first is the OCI annotation, the second the name that containerd uses.
			"org.opencontainers.image.ref.name": reference.TagStr(),
			"io.containerd.image.name":          familiar(reference),
		},
	}}))
	if err != nil {
		return digest, err
	}
	if err := writeDockerManifest(dir, image, reference); err != nil {
		return digest, err
	}
	index, err := path.ImageIndex()
	if err != nil {
		return digest, err
	}
	if err := validate.Index(index); err != nil {
		return digest, fmt.Errorf("what was written is no image: %w", err)
	}
	return digest, nil
}

// familiar returns the full name of an image, as containerd, the kubelet and Docker use
// it. Its host differs from that of Docker Hub's registry.
func familiar(reference name.Tag) string {
	if reference.RegistryStr() == name.DefaultRegistry {
		return "docker.io/" + reference.RepositoryStr() + ":" + reference.TagStr()
	}
	return reference.Name()
}

func writeDockerManifest(dir string, image v1.Image, reference name.Tag) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	docker := struct {
		Config   string
		RepoTags []string
		Layers   []string
	}{Config: blob(manifest.Config), RepoTags: []string{familiar(reference)}}
	for _, layer := range manifest.Layers {
		docker.Layers = append(docker.Layers, blob(layer))
	}
	data, err := json.Marshal([]any{docker})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o644)
}

// tarDirectory packs a directory, sorted by name.
func tarDirectory(to, dir string, o options) error {
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(file)
	err = filepath.WalkDir(dir, func(path string, found fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		e := entry{path: filepath.ToSlash(inside), mode: 0o644, source: path}
		if found.IsDir() {
			e.mode = fs.ModeDir | 0o755
		}
		return e.tar(archive, o.created)
	})
	return errors.Join(err, archive.Close(), file.Close())
}
