// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/readonly"
)

const (
	// copied marks a directory with the directories of a copy that no run uses.
	copied = ".copy"
	// idleAfter is how long a copy may be unused: the time of three intervals of a Stack, unless it has others.
	idleAfter = 30 * time.Minute
	// maxLoose bounds the files of a copy that are not in its directories, which are in memory.
	maxLoose = 1 << 20
)

// errNoCopy is why what is in a workspace is not used again.
var errNoCopy = errors.New("the dependencies are not used again")

// spare is what a run has of a snapshot. If it is left untouched, the next run gets it: to make ten
// thousand files takes some disks seconds, and to rename a directory takes none.
type spare struct {
	id ID
	// dirs are the outermost directories that the snapshot brought whole, and inodes tell them from others
	// that got their names.
	dirs   []string
	inodes []uint64
	// loose are its files beside them. They are written again each time.
	loose []batched
	size  int64
	seal  *seal
	// path is where the directories are while no run uses them, since the time of the return.
	path     string
	returned time.Time
}

// sealed is what is in a workspace, as long as its run leaves it as it is: the named files, directories and links. It is nil
// if that cannot be used again. Then the next run unpacks the snapshot.
func (s *Store) sealed(id ID, root *os.Root, names []string, size int64) *spare {
	if s.shared || s.readOnly || !s.isOnSameVolume(root) {
		return nil // nobody takes anything back
	}
	lent, err := newSpare(id, root, names, size)
	if err != nil {
		return nil
	}
	return lent
}

// isOnSameVolume reports whether directories can be moved from a workspace to the store.
func (s *Store) isOnSameVolume(root *os.Root) bool {
	var workspace, store unix.Stat_t
	return unix.Stat(root.Name(), &workspace) == nil && unix.Stat(s.dir, &store) == nil && workspace.Dev == store.Dev
}

// lend notes a copy that is in a workspace.
func (s *Store) lend(root *os.Root, lent *spare) {
	if lent == nil {
		return
	}
	s.mu.Lock()
	earlier := s.lent[root.Name()]
	s.lent[root.Name()] = lent
	s.mu.Unlock()
	_ = s.discardCopies(earlier) // the workspace was removed, and this is another one
}

// newSpare seals what is in a workspace. It fails if that is not all in directories of its own, but for small files.
func newSpare(id ID, root *os.Root, names []string, size int64) (*spare, error) {
	c := &spare{id: id, size: size}
	within, err := c.sort(root, names)
	if err != nil {
		return nil, err
	}
	places := c.in(root.Name())
	for _, at := range places {
		var info unix.Stat_t
		if err := unix.Lstat(at.path, &info); err != nil {
			return nil, err
		}
		c.inodes = append(c.inodes, info.Ino)
	}
	c.seal, err = newSeal(places, within)
	return c, err
}

// sort finds the outermost directories, and the files beside them. It returns what is in the directories.
func (c *spare) sort(root *os.Root, names []string) (within []string, err error) {
	isNamed := make(map[string]bool, len(names))
	for _, name := range names {
		isNamed[name] = true
	}
	size := 0
	for _, name := range names {
		if isNamed[path.Dir(name)] {
			within = append(within, name)
			continue
		}
		info, err := root.Lstat(name)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			within, c.dirs = append(within, name), append(c.dirs, name)
			continue
		case !info.Mode().IsRegular() || size+int(info.Size()) > maxLoose:
			return nil, fmt.Errorf("%w: %s is not in one of their directories", errNoCopy, name)
		}
		text, err := root.ReadFile(name)
		if err != nil {
			return nil, err
		}
		size += len(text)
		c.loose = append(c.loose, batched{text: text, header: &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime()}})
	}
	if len(c.dirs) == 0 {
		return nil, fmt.Errorf("%w: they have no directory", errNoCopy)
	}
	return within, nil
}

// in are the directories in a workspace.
func (c *spare) in(workspace string) []place {
	places := make([]place, 0, len(c.dirs))
	for _, dir := range c.dirs {
		places = append(places, place{name: dir, path: filepath.Join(workspace, filepath.FromSlash(dir))})
	}
	return places
}

// idle are the directories while no run uses them.
func (c *spare) idle() []place {
	places := make([]place, 0, len(c.dirs))
	for i, dir := range c.dirs {
		places = append(places, place{name: dir, path: filepath.Join(c.path, strconv.Itoa(i))})
	}
	return places
}

// TakeBack takes back what Restore or Save has left in a workspace, whose run has ended, for the next run with the
// same snapshot.
func (s *Store) TakeBack(workspace string) error {
	s.mu.Lock()
	c := s.lent[workspace]
	delete(s.lent, workspace)
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	if _, err := os.Lstat(s.path(c.id)); err != nil || c.seal.isBroken() {
		return s.discardCopies(c) // what is in the workspace is removed with it
	}
	if err := s.takeBack(c, workspace); err != nil {
		return errors.Join(fmt.Errorf("keeping the dependencies for the next run: %w", err), s.discardCopies(c))
	}
	s.mu.Lock()
	c.returned = time.Now()
	s.spares[c.id] = append(s.spares[c.id], c)
	s.mu.Unlock()
	time.AfterFunc(idleAfter, func() { _ = s.makeRoom("", 0) }) // the next start removes what is left, at the latest
	return s.makeRoom("", 0)
}

// takeBack moves the directories next to the snapshot.
func (s *Store) takeBack(c *spare, workspace string) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is buffered
	if c.path, err = os.MkdirTemp(filepath.Dir(s.path(c.id)), "*"+copied); err != nil {
		return err
	}
	for i, dir := range c.dirs {
		err := inParent(root, dir, func(parent int, name string) error {
			var info unix.Stat_t
			if err := unix.Fstatat(parent, name, &info, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
			if info.Ino != c.inodes[i] {
				return errBroken
			}
			return unix.Renameat(parent, name, unix.AT_FDCWD, filepath.Join(c.path, strconv.Itoa(i)))
		})
		if err != nil {
			return fmt.Errorf("moving %s: %w", dir, err)
		}
	}
	return nil
}

// inParent calls with the directory in which a name is, wherever links lead in the workspace.
func inParent(root *os.Root, name string, call func(parent int, base string) error) error {
	parent, err := root.OpenFile(path.Dir(name), unix.O_DIRECTORY|unix.O_NONBLOCK, 0) // a program may have made a pipe
	if err != nil {
		return err
	}
	return errors.Join(call(int(parent.Fd()), path.Base(name)), parent.Close())
}

// reuse moves a copy into a workspace, and reports whether there was one. An error that wraps ErrPartial leaves a part of it.
func (s *Store) reuse(id ID, root *os.Root) (bool, error) {
	for {
		c := s.takeSpare(id)
		if c == nil {
			return false, nil
		}
		// Who removes a snapshot wants everything to be installed again.
		if touch(s.path(id)) != nil || c.seal.check(c.idle()) != nil {
			_ = s.discardCopies(c) // the next start removes what is left, at the latest
			continue
		}
		if err := c.moveTo(root); err != nil {
			return false, errors.Join(err, s.discardCopies(c))
		}
		_ = os.Remove(c.path) // the next start removes it, at the latest
		c.path = ""
		s.lend(root, c)
		return true, nil
	}
}

// takeSpare takes the copy that was returned last, nil if there is none.
func (s *Store) takeSpare(id ID) *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.spares[id]
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	s.setSpares(id, all[:len(all)-1])
	return last
}

// setSpares is for a caller with the lock.
func (s *Store) setSpares(id ID, all []*spare) {
	if s.spares[id] = all; len(all) == 0 {
		delete(s.spares, id)
	}
}

// moveTo moves the directories into a workspace, or none of them.
func (c *spare) moveTo(root *os.Root) error {
	for _, file := range c.loose {
		if err := writeFile(root, file.header.Name, file.header, bytes.NewReader(file.text)); err != nil {
			return err
		}
	}
	for i := range c.dirs {
		err := c.move(root, i, false)
		for ; err != nil && i > 0; i-- {
			if fault := c.move(root, i-1, true); fault != nil {
				return errors.Join(fmt.Errorf("%w: %w", ErrPartial, fault), err)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// move moves one directory into a workspace, or back.
func (c *spare) move(root *os.Root, which int, back bool) error {
	return inParent(root, c.dirs[which], func(parent int, name string) error {
		idle := filepath.Join(c.path, strconv.Itoa(which))
		if back {
			return unix.Renameat2(parent, name, unix.AT_FDCWD, idle, unix.RENAME_NOREPLACE)
		}
		return unix.Renameat2(unix.AT_FDCWD, idle, parent, name, unix.RENAME_NOREPLACE)
	})
}

// discardCopies ends the watch of copies, and removes those that are not in a workspace.
func (s *Store) discardCopies(all ...*spare) (err error) {
	for _, c := range all {
		if c == nil {
			continue
		}
		err = errors.Join(err, c.seal.Close())
		if c.path != "" {
			err = errors.Join(err, readonly.RemoveAll(c.path))
		}
	}
	return err
}

// forget takes the copies of a snapshot that was replaced or removed out of use. Those that runs have are not taken back.
func (s *Store) forget(id ID) error {
	s.mu.Lock()
	gone := s.spares[id]
	delete(s.spares, id)
	for workspace, c := range s.lent {
		if c.id == id {
			gone = append(gone, c)
			delete(s.lent, workspace)
		}
	}
	s.mu.Unlock()
	return s.discardCopies(gone...)
}

// withSpares adds the copies that nobody uses to the snapshots and caches.
func (s *Store) withSpares(all []entry) []entry {
	for _, idle := range s.spares {
		for _, c := range idle {
			all = append(all, entry{path: c.path, size: c.size, used: c.returned, isCopy: true})
		}
	}
	return all
}

// retireSpare takes a copy out of use, and ends its watch.
func (s *Store) retireSpare(path string) error {
	for id, idle := range s.spares {
		if i := slices.IndexFunc(idle, func(c *spare) bool { return c.path == path }); i >= 0 {
			gone := idle[i]
			s.setSpares(id, slices.Delete(idle, i, i+1))
			return gone.seal.Close()
		}
	}
	return nil
}
