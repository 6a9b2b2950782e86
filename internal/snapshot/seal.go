// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// errBroken is why directories are not used again: they may have been changed.
var errBroken = errors.New("the directories were changed")

// seal notices every change of directories, whoever makes it and however. Three things that the kernel
// knows do so together:
//
//   - A write, and every other change, sets the change time of a file or of its directory, and nobody
//     can set that time. A file has another inode if it was replaced.
//   - Some ioctls exchange the blocks of two files and set no time, and not every kernel sets one for
//     all that is written through a mapping. Both need a file that is open for writing. The directories
//     are watched for its close.
//   - A process that outlives its run may have one open still. The kernel grants no read lease then.
type seal struct {
	// fd is an instance of inotify.
	fd  int
	sum [sha256.Size]byte
}

// changes are what is watched for. Each directory tells once.
const changes = unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE |
	unix.IN_ONESHOT | unix.IN_ONLYDIR

// newSeal seals directories that have exactly these files, directories and links, with the directories
// themselves. It fails if that is not so, or if the file system or the limits of inotify do not allow it.
func newSeal(dirs []place, names []string) (*seal, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watching dependencies: %w", err)
	}
	s := &seal{fd: fd}
	expected := make(map[string]bool, len(names))
	for _, name := range names {
		expected[name] = true
	}
	look := inspection{sum: sha256.New(), watch: fd, expected: expected}
	if s.sum, err = look.all(dirs); err == nil && len(expected) > 0 {
		err = fmt.Errorf("%w: %d files are missing", errBroken, len(expected))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// check fails if anything has changed since newSeal, or still can: a file is open for writing. The directories
// may have moved. Nobody who may not use them may be able to open a file in them meanwhile.
func (s *seal) check(dirs []place) error {
	if s.isBroken() {
		return errBroken
	}
	look := inspection{sum: sha256.New(), watch: -1}
	sum, err := look.all(dirs)
	if err == nil && sum != s.sum {
		err = errBroken
	}
	if err != nil {
		return err
	}
	// Last: the close of a file is an event before the file can be leased.
	if s.isBroken() {
		return errBroken
	}
	return nil
}

// isBroken reports whether a change was seen.
func (s *seal) isBroken() bool {
	events := make([]byte, unix.SizeofInotifyEvent+unix.NAME_MAX+1)
	_, err := unix.Read(s.fd, events)
	return !errors.Is(err, unix.EAGAIN)
}

// Close ends the watch.
func (s *seal) Close() error { return unix.Close(s.fd) }

// place is where one directory is. Its name is that in the workspace.
type place struct{ name, path string }

// inspection reads what the kernel knows of directories.
type inspection struct {
	sum hash.Hash
	// watch is the instance of inotify to which they are added, -1 for none.
	watch int
	// expected are the names that are still to be found, nil for any.
	expected map[string]bool
}

func (l *inspection) all(dirs []place) (sum [sha256.Size]byte, err error) {
	for _, dir := range dirs {
		fd, err := openFile(unix.AT_FDCWD, dir.path, unix.O_DIRECTORY)
		if err != nil {
			return sum, err
		}
		if err := l.dir(fd, dir.name, true); err != nil {
			return sum, err
		}
	}
	return [sha256.Size]byte(l.sum.Sum(nil)), nil
}

// dir inspects a directory and all in it, and closes it. The time of an outermost one changes when it is moved.
func (l *inspection) dir(fd int, name string, isOutermost bool) error {
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // it is only read
	if l.watch >= 0 {
		if _, err := unix.InotifyAddWatch(l.watch, filepath.Join("/proc/self/fd", strconv.Itoa(fd)), changes); err != nil {
			return fmt.Errorf("watching %s: %w", name, err)
		}
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if isOutermost {
		info.Ctim, info.Mtim, info.Nlink, info.Size = unix.Timespec{}, unix.Timespec{}, 0, 0
	}
	if err := l.add(name, info); err != nil {
		return err
	}
	entries, err := file.ReadDir(-1)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if err := l.entry(fd, path.Join(name, entry.Name()), entry); err != nil {
			return err
		}
	}
	return nil
}

func (l *inspection) entry(dir int, name string, entry os.DirEntry) error {
	switch {
	case entry.IsDir():
		fd, err := openFile(dir, entry.Name(), unix.O_DIRECTORY)
		if err != nil {
			return err
		}
		return l.dir(fd, name, false)
	case entry.Type().IsRegular():
		return l.file(dir, name, entry.Name())
	}
	var info unix.Stat_t
	if err := unix.Fstatat(dir, entry.Name(), &info, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	return l.add(name, info)
}

// file fails if a file is open for writing, or has another name by which it could be opened. What was
// written before it was closed shows in what is read after the lease was granted.
func (l *inspection) file(dir int, name, base string) error {
	fd, err := openFile(dir, base, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // it is only read
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return fmt.Errorf("%w: %s may be open for writing: %w", errBroken, name, err)
	}
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if info.Nlink != 1 {
		return fmt.Errorf("%w: %s has another name", errBroken, name)
	}
	return l.add(name, info)
}

// add adds one file, directory or link.
func (l *inspection) add(name string, info unix.Stat_t) error {
	if l.expected != nil {
		if !l.expected[name] {
			return fmt.Errorf("%w: %s was added", errBroken, name)
		}
		delete(l.expected, name)
	}
	record := make([]byte, 0, 256)
	for _, number := range []uint64{
		uint64(len(name)), info.Dev, info.Ino, uint64(info.Mode), uint64(info.Nlink), uint64(info.Uid), uint64(info.Gid), uint64(info.Size),
		uint64(info.Ctim.Nano()), uint64(info.Mtim.Nano()),
	} {
		record = binary.LittleEndian.AppendUint64(record, number)
	}
	_, err := l.sum.Write(append(record, name...))
	return err
}

// openAt opens a file, but not what a link leads to, and does not wait for a pipe.
func openFile(dir int, name string, flags int) (int, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return -1, &os.PathError{Op: "openat", Path: name, Err: err}
	}
	return fd, nil
}
