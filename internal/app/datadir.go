// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/holder"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
)

// errInUse is a data directory that another process has.
var errInUse = errors.New("the data directory is in use by another process")

// dataDir is the data directory, which is locked before it is used. A directory
// that cannot be written when the controller starts is locked when it can: until
// then runs fail and say so in their Stacks.
type dataDir struct {
	path string
	mu   sync.Mutex
	// lock is held for as long as it is open: nil before.
	lock *os.File
}

// Take makes the directory and locks it, once, for as long as this process lives.
// Having the lock proves that no other process has runs in flight there.
func (d *dataDir) Take() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil {
		return nil
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return fmt.Errorf("failed to make the data directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(d.path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("failed to open the lock of the data directory: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		d.lock = file
		return nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errInUse
	}
	return errors.Join(fmt.Errorf("failed to lock the data directory %s: %w", d.path, err), file.Close())
}

// Locked is the file that this process has locked, "" where there is none yet.
func (d *dataDir) Locked() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock == nil {
		return ""
	}
	return d.lock.Name()
}

// Close gives up the lock, if there is one.
func (d *dataDir) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil {
		_ = d.lock.Close() // nothing was written to it, and the process ends anyway
	}
}

// holders proves the death of holders. A run whose holder is gone is taken for
// lost where nothing is found of it, so that it is not before the data directory
// is there to look in.
type holders struct {
	holder.Prover
	dir *dataDir
}

// Gone implements observe.HolderProver.
func (h holders) Gone(ctx context.Context, process v1.RunHolder, recorded time.Time) (bool, error) {
	if err := h.dir.Take(); err != nil {
		return false, observe.Unproven(err)
	}
	return h.Prover.Gone(ctx, process, recorded)
}
