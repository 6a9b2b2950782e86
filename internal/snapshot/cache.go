// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/readonly"
)

const (
	cacheName = "cache"
	// removing marks a directory that is being removed.
	removing = ".removing"
)

// Cache is a directory of a namespace in which tools of languages keep what they have downloaded
// and compiled. Unlike a snapshot, it is used where it is, by several runs at once: only for tools
// that lock their files themselves. Close it after the use.
type Cache struct {
	// Dir is for as long as the Cache is open.
	Dir   string
	store *Store
	of    *cache
}

// cache is what the store knows of a Cache.
type cache struct {
	path           string
	users, writers int
	size           int64
	used           time.Time
}

// Cache opens the cache of a namespace. It is not removed before it is closed.
func (s *Store) Cache(namespace string) (*Cache, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.dir, filepath.Base(namespace), cacheName)
	now := time.Now()
	if err := errors.Join(os.MkdirAll(path, 0o700), os.Chtimes(path, now, now)); err != nil {
		return nil, fmt.Errorf("making the cache of dependencies: %w", err)
	}
	of := s.caches[path]
	if of == nil {
		of = &cache{path: path}
		s.caches[path] = of
	}
	of.users++
	of.used = now
	return &Cache{Dir: path, store: s, of: of}, nil
}

// BeginWriting notes that tools are going to write to the cache, until EndWriting.
func (c *Cache) BeginWriting() error {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.of.writers++
	if c.of.writers > 1 {
		return nil
	}
	file, err := os.Create(c.of.note())
	if err == nil {
		err = errors.Join(file.Sync(), file.Close())
	}
	if err != nil {
		c.of.writers--
		return fmt.Errorf("noting that the cache of dependencies is written: %w", err)
	}
	return nil
}

// EndWriting has what was written reach the disk, finds out how much that is, and makes room for
// it. Tools do not wait for the disk: after a crash of the machine, files may be empty.
func (c *Cache) EndWriting() error {
	err := syncFiles(c.Dir)
	size, errSize := sizeOfTree(c.Dir)
	c.store.mu.Lock()
	c.of.size = size
	if c.of.writers--; c.of.writers == 0 && err == nil {
		err = os.Remove(c.of.note())
	}
	c.store.mu.Unlock()
	if err := errors.Join(err, errSize); err != nil {
		return fmt.Errorf("keeping the cache of dependencies: %w", err)
	}
	return c.store.makeRoom("", 0)
}

// note is a file that is there while tools write to the cache.
func (c *cache) note() string { return c.path + writing }

// syncFiles waits until all that was written to the file system of a directory is on its disk.
func syncFiles(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(file.Fd())), file.Close())
}

// Close ends the use of the cache. It is removed if it is too big and nobody else uses it.
func (c *Cache) Close() error {
	c.store.mu.Lock()
	c.of.users--
	c.store.mu.Unlock()
	return c.store.makeRoom("", 0)
}

// removeLeft removes what an earlier process was removing, and its copies: nobody knows what has happened to them.
func (s *Store) removeLeft() error {
	for _, kind := range []string{removing, copied} {
		left, err := filepath.Glob(filepath.Join(s.dir, "*", "*"+kind))
		if err != nil {
			return err
		}
		for _, path := range left {
			if err := readonly.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// findCaches measures the caches that an earlier process has left, and removes those that it was
// writing when it ended.
func (s *Store) findCaches() error {
	found, err := filepath.Glob(filepath.Join(s.dir, "*", cacheName))
	if err != nil {
		return err
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path + writing); err == nil {
			if err := errors.Join(readonly.RemoveAll(path), os.Remove(path+writing)); err != nil {
				return err
			}
			continue
		}
		size, err := sizeOfTree(path)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.caches[path] = &cache{path: path, size: size, used: info.ModTime()}
		s.mu.Unlock()
	}
	return nil
}

// retire takes a cache out of use at once. What is left of it is removed later, without the lock.
func (s *Store) retire(path string) (string, error) {
	retired, err := os.MkdirTemp(filepath.Dir(path), "*"+removing)
	if err != nil {
		return "", err
	}
	if err := os.Rename(path, filepath.Join(retired, cacheName)); err != nil {
		return "", errors.Join(err, os.Remove(retired))
	}
	delete(s.caches, path)
	return retired, nil
}

// sizeOfTree is what the files of a directory take. Tools may remove some meanwhile.
func sizeOfTree(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, found fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := found.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}
