// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// NewShared is New for a directory that several processes use at once, such as a volume that is
// mounted by several pods.
func NewShared(dir string, limit int64) *Store {
	s := New(dir, limit)
	s.shared = true
	return s
}

// NewReadOnly is New for a directory that others write to. It has Restore alone.
func NewReadOnly(dir string) *Store {
	s := New(dir, 0)
	s.readOnly = true
	return s
}

// abandoned is how long nobody has written to a file that nobody will write any more: a process
// on another machine cannot be asked. It is longer than a keeper may take for a snapshot. If it
// writes after all, it keeps no snapshot.
const abandoned = 15 * time.Minute

func isAbandoned(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > abandoned
}

const (
	// lockName is the file in which each snapshot that is being installed has one byte locked.
	lockName = "lock"
	// lockInterval is how often to ask whether another process has installed.
	lockInterval = 100 * time.Millisecond
)

// Patience is how long a run that ends with ctx should wait for another to install.
func Patience(ctx context.Context) time.Duration {
	if deadline, isSet := ctx.Deadline(); isSet {
		return min(patience, time.Until(deadline)/3)
	}
	return patience
}

// Reserve is Lock among the processes that share the directory. It waits until there is the
// snapshot, no other process is installing what it would have, or the patience is at its end, and
// calls waiting before. It notes that the snapshot is used. On a volume without locks, everybody
// installs.
func (s *Store) Reserve(ctx context.Context, id ID, patience time.Duration, waiting func()) (release func() error, err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(s.dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking a dependency snapshot: %w", err)
	}
	until := time.Now().Add(patience)
	for touch(s.path(id)) != nil && time.Now().Before(until) && isLocked(file, id) {
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-time.After(lockInterval):
		}
	}
	return file.Close, nil
}

// isLocked locks the byte of a snapshot, unless another process has. The file system releases it when
// the file is closed, or its process is killed.
func isLocked(file *os.File, id ID) bool {
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{
		Type: unix.F_WRLCK, Start: int64(binary.BigEndian.Uint64(id.Key[:8]) >> 2), Len: 1,
	})
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES)
}

// Receive keeps a snapshot that another process has written with Write, of about this size.
func (s *Store) Receive(id ID, size int64, from io.Reader) error {
	return s.keep(id, size, func(file *os.File) error {
		n, err := io.Copy(file, io.LimitReader(from, s.limit+1))
		switch {
		case err != nil:
			return err
		case n > s.limit:
			return fmt.Errorf("%w: they have more than %d bytes", ErrUnfit, s.limit)
		}
		_, err = verify(context.Background(), file)
		return err
	})
}

// Discard removes a snapshot that cannot be used.
func (s *Store) Discard(id ID) error {
	if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a dependency snapshot: %w", err)
	}
	return s.forget(id)
}
