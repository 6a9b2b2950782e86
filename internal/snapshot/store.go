// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Key identifies what an installation brings. It is a SHA-256.
type Key [32]byte

// ID names one snapshot. Nothing is shared between namespaces: the scripts of packages run
// while they are installed, with the credentials of their run. The caller chooses a name for a
// namespace that no other ever gets.
type ID struct {
	Namespace string
	Key       Key
}

// NamespaceOf is the name of a namespace for an ID: if it is deleted, another tenant may get its name.
func NamespaceOf(name, uid string) string { return name + "." + uid }

const (
	extension = ".tar"
	// writing marks a file that is being written.
	writing = ".writing"
)

// Store is a directory of snapshots. It is safe for concurrent use.
type Store struct {
	dir   string
	limit int64
	// patience is how long others wait for an installation.
	patience time.Duration
	// shared is set if other processes write to the directory too, and readOnly if this one may not.
	shared, readOnly bool
	// open makes the directory and removes what a process has left half written, once.
	open func() error

	mu sync.Mutex
	// busy has the use of each snapshot that is in use.
	busy map[ID]*hold
	// passed has the checks that have passed.
	passed map[ID]bool
	// caches are the caches of the namespaces by their paths.
	caches map[string]*cache
	// lent are the copies in the workspaces of runs, and spares those that no run uses, the one that was used last at the end.
	lent   map[string]*spare
	spares map[ID][]*spare
}

// New keeps snapshots in a directory, which has one writer at a time. It is not touched before
// the first Lock or Cache. All snapshots and caches together take at most limit bytes, and more only
// while a cache is in use.
func New(dir string, limit int64) *Store {
	s := &Store{
		dir: dir, limit: limit, patience: patience,
		busy: map[ID]*hold{}, passed: map[ID]bool{}, caches: map[string]*cache{}, lent: map[string]*spare{}, spares: map[ID][]*spare{},
	}
	s.open = sync.OnceValue(s.prepare)
	return s
}

func (s *Store) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of dependency snapshots: %w", err)
	}
	if err := errors.Join(s.removeLeft(), s.findCaches()); err != nil {
		return fmt.Errorf("reading the caches of dependencies: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "*", "*"+writing))
	if err != nil {
		return fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	for _, path := range left {
		if s.shared && !isAbandoned(path) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an unfinished dependency snapshot: %w", err)
		}
	}
	if err := s.makeRoom("", 0); err != nil {
		return err
	}
	if s.shared {
		return nil // another process may be about to write there
	}
	return s.removeEmpty()
}

// removeEmpty removes the directories of namespaces of which nothing is left: nobody may ever come
// back to them.
func (s *Store) removeEmpty() error {
	dirs, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	for _, dir := range dirs {
		err := os.Remove(filepath.Join(s.dir, dir.Name()))
		if err != nil && !errors.Is(err, unix.ENOTEMPTY) {
			return fmt.Errorf("removing an empty directory of dependency snapshots: %w", err)
		}
	}
	return nil
}

// path is where a snapshot is. A namespace of Kubernetes is a DNS label, and so a plain file name.
func (s *Store) path(id ID) string {
	return filepath.Join(s.dir, filepath.Base(id.Namespace), hex.EncodeToString(id.Key[:])+extension)
}

// entries lists the snapshots, with those that other processes are writing.
func (s *Store) entries() ([]entry, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, "*", "*"+extension))
	if err != nil {
		return nil, err
	}
	if s.shared {
		unfinished, err := filepath.Glob(filepath.Join(s.dir, "*", "*"+writing))
		if err != nil {
			return nil, err
		}
		paths = append(paths, unfinished...)
	}
	var all []entry
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, entry{path: path, size: info.Size(), used: info.ModTime(), isUnfinished: filepath.Ext(path) == writing})
	}
	return all, nil
}

// Size is how many bytes the snapshots, their copies that no run uses, and the caches take.
func (s *Store) Size() (int64, error) {
	all, err := s.entries()
	if err != nil {
		return 0, fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return sum(s.withSpares(all)) + s.sizeOfCaches(), nil
}

func sum(all []entry) (size int64) {
	for _, e := range all {
		size += e.size
	}
	return size
}

func (s *Store) sizeOfCaches() (size int64) {
	for _, c := range s.caches {
		size += c.size
	}
	return size
}
