// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
)

// Sweep removes what the runs of an earlier controller left in the work directory. Call
// it at start-up. For runs to keep, whose result may still be absorbed or which are to
// be recovered, it leaves the files needed for that. It skips a run with a live
// process, which is finishing what it began when its controller died, until the next
// time.
func (r *Runner) Sweep(keep func(id string) bool) error {
	entries, err := os.ReadDir(r.options.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweeping the work directory: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		id := entry.Name()
		if r.started(id) {
			continue
		}
		if alive, err := pulumi.Alive(id); err != nil || alive > 0 {
			r.options.Log.Info("a run of an earlier controller is still in flight", "run", id, "processes", alive)
			errs = append(errs, err)
			continue
		}
		if err := r.sweep(id, keep(id)); err != nil {
			errs = append(errs, fmt.Errorf("sweeping the work directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

// sweep removes the directory of a dead run, or the bulk of it.
func (r *Runner) sweep(id string, keep bool) error {
	if keep {
		return pulumi.Directory(r.dir(id)).ClearBulk()
	}
	return pulumi.Directory(r.dir(id)).Remove()
}

func (r *Runner) started(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.runs[id]
	return ok
}
