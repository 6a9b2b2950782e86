// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// ErrCorrupt is why a snapshot was removed: its content is not what was written.
var ErrCorrupt = errors.New("the dependency snapshot is damaged and was removed")

// ErrPartial is why a workspace cannot be used: it has a part of a snapshot. Package managers
// do not notice files that are missing from a package.
var ErrPartial = errors.New("copying a dependency snapshot failed half-way")

// Restore copies a snapshot into a workspace, and reports whether there is one. One that is
// damaged is removed before anything of it is used: the error wraps ErrCorrupt. One that
// cannot be copied whole is removed too, so that the next run installs: the error wraps
// ErrPartial. Any other error leaves the workspace as it was.
func (s *Store) Restore(ctx context.Context, id ID, root *os.Root) (bool, error) {
	if found, err := s.reuse(id, root); found || errors.Is(err, ErrPartial) {
		return found, err
	}
	verified, err := s.openVerified(ctx, id)
	if errors.Is(err, unix.ESTALE) { // it was replaced, and the other one can be read
		verified, err = s.openVerified(ctx, id)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, ErrCorrupt):
		return false, s.discarding(id, err)
	case err != nil:
		return false, fmt.Errorf("reading a dependency snapshot: %w", err)
	}
	brought, err := awaitVolume(ctx, func() (content, error) {
		_ = touch(verified.Name()) // it fails on a volume that is mounted read-only
		brought, err := extract(ctx, io.NewSectionReader(verified, 0, verified.size), root)
		return brought, errors.Join(err, verified.Close())
	})
	switch {
	case err == nil && brought.namesWorkspace:
		return true, nil
	case err == nil:
		s.lend(root, s.sealed(id, root, brought.names, verified.size))
		return true, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("%w: %w", ErrPartial, context.Cause(ctx))
	}
	return false, s.discarding(id, fmt.Errorf("%w: %w", ErrPartial, err))
}

// IsUseless reports whether an error of Restore is a reason to remove the snapshot. One that was
// replaced while it was read, on NFS, is gone anyway, and the other one is good.
func IsUseless(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrPartial) && !errors.Is(err, unix.ESTALE)
}

// discarding removes a snapshot if the error says so, which it returns.
func (s *Store) discarding(id ID, err error) error {
	if s.readOnly || !IsUseless(err) {
		return err
	}
	return errors.Join(err, s.Discard(id))
}

// verifiedFile is a snapshot whose tar of this size is what was written.
type verifiedFile struct {
	*os.File
	size int64
}

// openVerified opens a snapshot. It gives up on a volume that does not answer: to install is possible.
func (s *Store) openVerified(ctx context.Context, id ID) (verifiedFile, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(s.patience, Patience(ctx)), errAway)
	defer cancel()
	return awaitVolume(ctx, func() (verifiedFile, error) {
		file, err := os.Open(s.path(id))
		if err != nil {
			return verifiedFile{}, err
		}
		size, err := verify(ctx, file)
		if err != nil {
			return verifiedFile{}, errors.Join(err, file.Close())
		}
		return verifiedFile{file, size}, nil
	})
}

// touch sets the time of the last use of a snapshot, which is that of its file.
func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// verify returns the size of the tar in a snapshot.
func verify(ctx context.Context, file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size() - sha256.Size
	if size < 0 {
		return 0, ErrCorrupt
	}
	sum := sha256.New()
	if _, err := io.Copy(untilDone{ctx: ctx, to: sum}, io.NewSectionReader(file, 0, size)); err != nil {
		return 0, err
	}
	written, err := io.ReadAll(io.NewSectionReader(file, size, sha256.Size))
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(sum.Sum(nil), written) {
		return 0, ErrCorrupt
	}
	return size, nil
}

const (
	// maxBatch and maxBatchFiles bound what waits to be written in one step.
	maxBatch      = 1 << 20
	maxBatchFiles = 256
	// writers is how many batches are written at once: most of the time of a small file is
	// that of making it.
	writers = 4
)

// batch are files of one directory.
type batch struct {
	dir   string
	files []batched
	size  int
}

type batched struct {
	header *tar.Header
	text   []byte
}

// content is what a snapshot has brought.
type content struct {
	names []string
	// namesWorkspace is set if a file names the workspace.
	namesWorkspace bool
}

// extract unpacks a tar. Links are made last, so that nothing is written through one.
func extract(ctx context.Context, from io.Reader, root *os.Root) (content, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	e := extractor{root: root, group: group}
	err := e.read(ctx, tar.NewReader(bufio.NewReaderSize(from, 1<<20)))
	if err := errors.Join(err, group.Wait()); err != nil {
		return content{}, err
	}
	for _, link := range e.links {
		if err := makeLink(root, link); err != nil {
			return content{}, err
		}
	}
	// A directory that may not be written to gets what is in it first.
	for _, dir := range slices.Backward(e.dirs) {
		if err := root.Chmod(dir.Name, dir.FileInfo().Mode().Perm()); err != nil {
			return content{}, err
		}
	}
	return e.brought, nil
}

type extractor struct {
	root  *os.Root
	group *errgroup.Group
	next  batch
	// links and dirs are what is left to do at the end.
	links, dirs []*tar.Header
	brought     content
}

func (e *extractor) read(ctx context.Context, from *tar.Reader) error {
	for ctx.Err() == nil {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			e.flush()
			return nil
		}
		if err != nil {
			return err
		}
		if err := e.add(from, header); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (e *extractor) add(from *tar.Reader, header *tar.Header) error {
	header.Name = path.Clean(header.Name)
	e.brought.names = append(e.brought.names, header.Name)
	switch header.Typeflag {
	case tar.TypeDir:
		if header.FileInfo().Mode().Perm()&0o700 != 0o700 {
			e.dirs = append(e.dirs, header)
		}
		return e.root.MkdirAll(header.Name, 0o700|header.FileInfo().Mode().Perm())
	case tar.TypeSymlink:
		e.links = append(e.links, header)
		return nil
	case tar.TypeReg:
	default:
		return fmt.Errorf("%s is no regular file", header.Name)
	}
	if header.Size > maxBatch {
		if err := e.root.MkdirAll(path.Dir(header.Name), 0o700); err != nil {
			return err
		}
		return writeFile(e.root, header.Name, header, from)
	}
	text := make([]byte, header.Size)
	if _, err := io.ReadFull(from, text); err != nil {
		return err
	}
	if was := header.PAXRecords[workspaceRecord]; was != "" {
		e.brought.namesWorkspace = true
		text = bytes.ReplaceAll(text, []byte(was), []byte(e.root.Name()))
		// What Python has compiled of the other form must look older than this one.
		header.ModTime = time.Now()
	}
	dir := path.Dir(header.Name)
	if dir != e.next.dir || len(e.next.files) == maxBatchFiles || e.next.size+len(text) > maxBatch {
		e.flush()
	}
	e.next.dir = dir
	e.next.files = append(e.next.files, batched{header: header, text: text})
	e.next.size += len(text)
	return nil
}

// flush has the files written that were read, and waits if too many are.
func (e *extractor) flush() {
	b := e.next
	e.next = batch{}
	if len(b.files) > 0 {
		e.group.Go(func() error { return b.write(e.root) })
	}
}

// write opens the directory once: a path from the root would be looked up part by part for each file.
func (b batch) write(root *os.Root) error {
	if err := root.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	dir, err := root.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing is buffered
	for _, f := range b.files {
		if err := writeFile(dir, path.Base(f.header.Name), f.header, bytes.NewReader(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// writeFile replaces what may have the name, so that nothing is written through a link of the source.
func writeFile(dir *os.Root, name string, header *tar.Header, from io.Reader) error {
	mode := header.FileInfo().Mode().Perm()
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		if err = dir.Remove(name); err == nil {
			file, err = dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		}
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close(), dir.Chtimes(name, time.Time{}, header.ModTime))
}

func makeLink(root *os.Root, link *tar.Header) error {
	err := root.Symlink(link.Linkname, link.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = root.MkdirAll(path.Dir(link.Name), 0o700)
	case errors.Is(err, fs.ErrExist):
		err = root.Remove(link.Name)
	default:
		return err
	}
	if err != nil {
		return err
	}
	return root.Symlink(link.Linkname, link.Name)
}
