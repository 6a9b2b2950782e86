// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Key identifies what an installation brings. It is a SHA-256.
type Key [32]byte

// ID names one snapshot. Nothing is shared between namespaces: the scripts of packages run
// while they are installed, with the credentials of their run.
type ID struct {
	Namespace string
	Key       Key
}

const (
	extension = ".tar"
	// writing marks a file that is being written.
	writing = ".writing"
)

// Store is a directory of snapshots. It is safe for concurrent use.
type Store struct {
	dir   string
	limit int64
	// open makes the directory and removes what a process has left half written, once.
	open func() error

	mu sync.Mutex
	// busy has a channel for each snapshot that is in use, closed at the end of the use.
	busy map[ID]chan struct{}
	// passed has the checks that have passed.
	passed map[ID]bool
	// caches are the caches of the namespaces by their paths.
	caches map[string]*cache
}

// New keeps snapshots in a directory, which has one writer at a time. It is not touched before
// the first Lock or Cache. All snapshots and caches together take at most limit bytes, and more only
// while a cache is in use.
func New(dir string, limit int64) *Store {
	s := &Store{dir: dir, limit: limit, busy: map[ID]chan struct{}{}, passed: map[ID]bool{}, caches: map[string]*cache{}}
	s.open = sync.OnceValue(s.prepare)
	return s
}

func (s *Store) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of dependency snapshots: %w", err)
	}
	if err := s.findCaches(); err != nil {
		return fmt.Errorf("reading the caches of dependencies: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "*", "*"+writing))
	if err != nil {
		return fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("removing an unfinished dependency snapshot: %w", err)
		}
	}
	return s.makeRoom(0)
}

// Lock waits until nobody else uses the snapshot, so that runs that start together install
// once. The caller has to call unlock. An error that is not the cause of ctx is one of the disk.
func (s *Store) Lock(ctx context.Context, id ID) (unlock func(), err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	for {
		s.mu.Lock()
		done, isBusy := s.busy[id]
		if !isBusy {
			done = make(chan struct{})
			s.busy[id] = done
		}
		s.mu.Unlock()
		if !isBusy {
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.busy, id)
				close(done)
			}, nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// path is where a snapshot is. A namespace of Kubernetes is a DNS label, and so a plain file name.
func (s *Store) path(id ID) string {
	return filepath.Join(s.dir, filepath.Base(id.Namespace), hex.EncodeToString(id.Key[:])+extension)
}

// entry is a file of the store.
type entry struct {
	path string
	size int64
	used time.Time
}

// entries lists the snapshots.
func (s *Store) entries() ([]entry, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, "*", "*"+extension))
	if err != nil {
		return nil, err
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
		all = append(all, entry{path: path, size: info.Size(), used: info.ModTime()})
	}
	return all, nil
}

// Size is how many bytes the snapshots and caches take.
func (s *Store) Size() (int64, error) {
	all, err := s.entries()
	if err != nil {
		return 0, fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return sum(all) + s.sizeOfCaches(), nil
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

// makeRoom removes the least recently used snapshots and caches until there is room for so many
// bytes.
func (s *Store) makeRoom(size int64) error {
	retired, err := s.evict(size)
	for _, path := range retired {
		err = errors.Join(err, RemoveAll(path))
	}
	return err
}

// evict removes snapshots, and returns the directories of caches that are to be removed.
func (s *Store) evict(size int64) (retired []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.entries()
	if err != nil {
		return nil, fmt.Errorf("reading the directory of dependency snapshots: %w", err)
	}
	total := sum(all) + s.sizeOfCaches()
	for _, c := range s.caches {
		if c.users > 0 && c.size > s.limit {
			total -= c.size // it goes when it is closed, and nothing else has to go for it
		}
	}
	for _, e := range s.withCaches(all) {
		if total+size <= s.limit {
			break
		}
		if s.caches[e.path] == nil {
			if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return retired, fmt.Errorf("removing a dependency snapshot: %w", err)
			}
		} else {
			dir, err := s.retire(e.path)
			if err != nil {
				return retired, fmt.Errorf("removing a cache of dependencies: %w", err)
			}
			retired = append(retired, dir)
		}
		total -= e.size
	}
	return retired, nil
}

// withCaches adds the caches that nobody uses. One that is too big for any other to be kept goes
// first.
func (s *Store) withCaches(all []entry) []entry {
	for _, c := range s.caches {
		if c.users == 0 {
			all = append(all, entry{path: c.path, size: c.size, used: c.used})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		switch aIsBig, bIsBig := a.size > s.limit, b.size > s.limit; {
		case aIsBig && !bIsBig:
			return -1
		case bIsBig && !aIsBig:
			return 1
		}
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path))
	})
	return all
}
