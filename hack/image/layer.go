// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// pack makes a layer of an image. The compression is fast and weak: the image is mostly
// loaded on the same machine, by someone who waits for it.
func (l layer) pack(created time.Time) (v1.Layer, error) {
	packed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(l.tar(writer, created)) }()
		return reader, nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("packing layer %s: %w", l.name, err)
	}
	return packed, nil
}

// tar writes the layer as a tar archive.
func (l layer) tar(to io.Writer, created time.Time) error {
	archive := tar.NewWriter(to)
	for _, e := range l.entries {
		if err := e.tar(archive, created); err != nil {
			return fmt.Errorf("packing /%s: %w", e.path, err)
		}
	}
	return archive.Close()
}

func (e entry) tar(archive *tar.Writer, created time.Time) error {
	header := &tar.Header{Name: e.path, Mode: int64(e.mode.Perm()), ModTime: created, Format: tar.FormatUSTAR}
	if e.mode&fs.ModeSticky != 0 {
		header.Mode |= 0o1000
	}
	var content io.ReadCloser
	switch {
	case e.mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, e.path+"/"
	case e.mode&fs.ModeSymlink != 0:
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.link
	default:
		header.Typeflag = tar.TypeReg
		var err error
		if content, header.Size, err = e.open(); err != nil {
			return err
		}
		defer func() { _ = content.Close() }() // read only
	}
	if err := archive.WriteHeader(header); err != nil || content == nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

// open opens the content of a file, and returns its size.
func (e entry) open() (io.ReadCloser, int64, error) {
	if e.source == "" {
		return io.NopCloser(bytes.NewReader(e.data)), int64(len(e.data)), nil
	}
	file, err := os.Open(e.source)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // the error of Stat is returned
		return nil, 0, err
	}
	return file, info.Size(), nil
}
