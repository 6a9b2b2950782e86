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
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Save keeps the named files, directories and links of a workspace. The error wraps ErrUnfit
// if they cannot be used elsewhere, or are too big. Whatever fails, an earlier snapshot is
// left as it is.
func (s *Store) Save(ctx context.Context, id ID, root *os.Root, names []string) error {
	size, err := SizeOf(root, names)
	if err != nil {
		return err
	}
	// What the installation has left is sealed first, so that it is what was written, or not used again.
	lent := s.sealed(id, root, names, size)
	var namesWorkspace bool
	err = s.keep(id, size, func(file *os.File) (err error) {
		namesWorkspace, err = write(untilDone{ctx: ctx, to: file}, root, names)
		return err
	})
	if err != nil || namesWorkspace {
		return errors.Join(err, s.discardCopies(lent))
	}
	s.lend(root, lent)
	return nil
}

// keep makes room for a snapshot of about this size, and keeps what is written.
func (s *Store) keep(id ID, size int64, write func(*os.File) error) error {
	if size > s.limit {
		return fmt.Errorf("%w: they have %d bytes, and all snapshots together may have %d", ErrUnfit, size, s.limit)
	}
	if err := s.makeRoom(filepath.Base(id.Namespace), size); err != nil {
		return err
	}
	target := s.path(id)
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return fmt.Errorf("making the directory of dependency snapshots: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(target), "*"+writing)
	if err != nil {
		return fmt.Errorf("writing a dependency snapshot: %w", err)
	}
	err = errors.Join(write(file), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing a dependency snapshot: %w", err), os.Remove(file.Name()))
	}
	return errors.Join(s.forget(id), s.makeRoom("", 0)) // the tar is a bit larger than its files
}

// SizeOf is about how much a snapshot of the files takes.
func SizeOf(root *os.Root, names []string) (int64, error) {
	var size int64
	for _, name := range names {
		info, err := root.Lstat(name)
		if err != nil {
			return 0, fmt.Errorf("writing a dependency snapshot: %w", err)
		}
		size += 512
		if info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size, nil
}

// Write writes a snapshot: a tar and its SHA-256.
func Write(to io.Writer, root *os.Root, names []string) error {
	_, err := write(to, root, names)
	return err
}

// write reports whether a file names the workspace.
func write(to io.Writer, root *os.Root, names []string) (namesWorkspace bool, err error) {
	buffered := bufio.NewWriterSize(to, 1<<20)
	w := writer{root: root, sum: sha256.New()}
	w.tar = tar.NewWriter(io.MultiWriter(buffered, w.sum))
	for _, name := range names {
		if err := w.add(name); err != nil {
			return false, err
		}
	}
	if err := w.tar.Close(); err != nil {
		return false, err
	}
	if _, err := buffered.Write(w.sum.Sum(nil)); err != nil {
		return false, err
	}
	return w.namesWorkspace, buffered.Flush()
}

type writer struct {
	root *os.Root
	tar  *tar.Writer
	sum  hash.Hash
	// namesWorkspace is set if a file has a workspaceRecord.
	namesWorkspace bool
}

func (w *writer) add(name string) error {
	info, err := w.root.Lstat(name)
	if err != nil {
		return err
	}
	var link string
	if info.Mode().Type() == fs.ModeSymlink {
		if link, err = w.root.Readlink(name); err != nil {
			return err
		}
		if err := checkLink(w.root.Name(), name, link); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name = name
	// Python compares the second in which a source was written with what its compiled form says. A tar rounds.
	header.ModTime = info.ModTime().Truncate(time.Second)
	// Whose they are says nothing about the copy.
	header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", ""
	if !info.Mode().IsRegular() {
		return w.tar.WriteHeader(header)
	}
	if base := path.Base(name); base == ".pnp.cjs" || base == ".pnp.js" {
		return fmt.Errorf("%w: %s names packages in the home directory of the run", ErrUnfit, name)
	}
	file, err := openRegular(w.root, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it is only read
	if info.Size() > maxBatch {
		if err := w.tar.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.Copy(w.tar, file)
		return err
	}
	return w.addText(file, header)
}

// openRegular opens a file. It does not wait for whoever has put a pipe in its place.
func openRegular(root *os.Root, name string) (*os.File, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%w: %s is no regular file", ErrUnfit, name), err, file.Close())
	}
	return file, nil
}

func readFile(root *os.Root, name string) ([]byte, error) {
	file, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxLoose))
	return text, errors.Join(err, file.Close())
}

// checkLink fails for a link into the directory of the run, such as its home, which is gone with
// the run, or into this very workspace by its absolute path. A link out of that directory, such
// as the one to the python of the image, is the same for all runs.
func checkLink(workspace, name, link string) error {
	target := link
	if !filepath.IsAbs(link) {
		target = filepath.Join(workspace, filepath.Dir(name), link)
	}
	isInside := isBelow(workspace, target)
	if isInside && !filepath.IsAbs(link) || !isInside && !isBelow(filepath.Dir(workspace), target) {
		return nil
	}
	return fmt.Errorf("%w: %s links to a directory of this run alone", ErrUnfit, name)
}

func isBelow(dir, name string) bool {
	within, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(within)
}

// workspaceRecord has the directory of the workspace, for a file that names it and has to name
// the one to which it is copied.
const workspaceRecord = "PULUMI.workspace"

// addText adds a file that may name the workspace: the commands of a virtual environment of
// Python do, and the packages that it uses where they are.
func (w *writer) addText(file io.Reader, header *tar.Header) error {
	text, err := io.ReadAll(io.LimitReader(file, header.Size))
	if err != nil {
		return err
	}
	if namesDirectories(header.Name, text) && bytes.Contains(text, []byte(w.root.Name())) {
		header.PAXRecords = map[string]string{workspaceRecord: w.root.Name()}
		w.namesWorkspace = true
	}
	if err := w.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err = w.tar.Write(text)
	return err
}

// namesDirectories reports whether a file is a script, or one in which Python looks for packages:
// setuptools finds those that are installed where they are with __editable___*_finder.py.
func namesDirectories(name string, text []byte) bool {
	return bytes.HasPrefix(text, []byte("#!")) || strings.HasSuffix(name, ".pth") || strings.HasSuffix(name, ".egg-link") ||
		strings.HasPrefix(path.Base(name), "__editable__") && strings.HasSuffix(name, ".py")
}
