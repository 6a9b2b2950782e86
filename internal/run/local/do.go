// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/inplace"
)

// do does a run from its beginning to the call of Ended.
func (r *Runner) do(ctx context.Context, started run.Run) {
	defer r.work.Done()
	log := r.logOf(started)
	timeout := started.Timeout
	if timeout <= 0 {
		timeout = inplace.DefaultTimeout
	}
	log.Info(string(started.Operation)+" starts", "timeout", timeout.String())
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	if err := r.usable(); err != nil {
		result := pulumi.Failure(started, run.WorkspaceFailed, err, time.Now())
		r.settle(started.ID, result) // in memory alone: there is nowhere to keep it
		return
	}
	result := r.place.Do(ctx, pulumi.Directory(r.dir(started.ID)), started, func(line string) { log.Info(line) })
	if err := r.keep(started.ID, result); err != nil {
		// This controller has it in memory. The next one will find it lost.
		log.Error(err, "the result of a run cannot be kept")
	} else if result.Outcome == run.Succeeded {
		// Not before: until the result is on disk, they are what there is to read.
		r.removeInterrupted(started.Interrupted, func(line string) { log.Info(line) })
	}
	r.settle(started.ID, result)
}

// usable tells what keeps this process from using the work directory.
func (r *Runner) usable() error {
	if r.options.Usable == nil {
		return nil
	}
	return r.options.Usable()
}

// logOf returns the log of a run. Its keys are those that controller-runtime
// gives the lines of a reconcile: flux logs --kind=Stack --name=<name> shows both.
func (r *Runner) logOf(started run.Run) logr.Logger {
	return r.options.Log.WithValues(
		"controller", "stack", "controllerGroup", "pulumi.com", "controllerKind", "Stack",
		"namespace", started.Namespace, "name", started.Name,
		"run", started.ID, "operation", string(started.Operation), "revision", started.Revision)
}

// removeInterrupted removes what runs that are recovered from have left in their
// directories, now that it has been read.
func (r *Runner) removeInterrupted(interrupted []run.Interrupted, log func(string)) {
	for _, lost := range interrupted {
		if !validID(lost.ID) {
			continue
		}
		if err := pulumi.Directory(r.dir(lost.ID)).Remove(); err != nil {
			log(fmt.Sprintf("removing the directory of a run that was interrupted: %v", err))
		}
	}
}

// keep leaves nothing of the run on disk but its result.
func (r *Runner) keep(id string, result run.Result) error {
	dir := r.dir(id)
	// First, as a full disk is why it might not be possible to write.
	clearErr := pulumi.Directory(dir).ClearBulk()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errors.Join(clearErr, fmt.Errorf("making the directory of the run: %w", err))
	}
	if err := writeResult(dir, result); err != nil || result.Interrupted {
		// What the run told is read when it is recovered from.
		return errors.Join(clearErr, err)
	}
	return errors.Join(clearErr, pulumi.Directory(dir).Clear())
}

// settle makes the result known, and gives the slot of the run to the next.
func (r *Runner) settle(id string, result run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.runs[id]
	known.result = &result
	known.cancel(nil) // it has ended, and lets go of what is kept for it
	r.slots.Release(known.stack)
	r.options.Ended(known.stack.Namespace, known.stack.Name)
	r.offer()
}
