// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// entry is a file or a directory to pack.
type entry struct {
	path string
	info fs.FileInfo
}

// archive packs the listed entries. The archives of fluxcd/pkg/tar are identical, but it
// also reads excluded directories, which may be unreadable or large.
func (l *listed) archive(ctx context.Context, to io.Writer) error {
	zipped := gzip.NewWriter(to)
	packed := tar.NewWriter(zipped)
	for _, one := range l.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.add(packed, one); err != nil {
			return err
		}
	}
	return errors.Join(packed.Close(), zipped.Close())
}

func (l *listed) add(packed *tar.Writer, one entry) error {
	header, err := tar.FileInfoHeader(one.info, "")
	if err != nil {
		return err
	}
	name, err := filepath.Rel(l.root, one.path)
	if err != nil {
		return err
	}
	header.Name = filepath.ToSlash(name)
	// Nothing of this machine: the same files make the same archive.
	header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", ""
	header.ModTime, header.AccessTime, header.ChangeTime = time.Time{}, time.Time{}, time.Time{}
	if err := packed.WriteHeader(header); err != nil || one.info.IsDir() {
		return err
	}
	file, err := os.Open(one.path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(packed, file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
