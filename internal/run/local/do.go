// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/inplace"
)

// do executes a run, from its start to the call of Wake.
func (r *Runner) do(ctx context.Context, started run.Run) {
	defer r.work.Done()
	log := r.options.Log.WithValues(started.LogValues()...)
	log.Info(string(started.Operation)+" starts", "timeout", started.Timeout.String())
	ctx, cancel := context.WithTimeout(ctx, started.Timeout)
	defer cancel()

	r.settle(started.ID, r.execute(ctx, started, log))
}

// execute executes the run, and keeps its result on disk.
func (r *Runner) execute(ctx context.Context, started run.Run, log logr.Logger) (result run.Result) {
	say := func(line string) { log.Info(line) }
	begin := time.Now()
	defer inplace.Recover(&result, started, begin, say)
	if err := r.usable(); err != nil {
		return pulumi.Failure(started, run.WorkspaceFailed, err, begin) // in memory only: there is nowhere to store it
	}
	r.spread()
	result = r.executor.Do(ctx, pulumi.Directory(r.dir(started.ID)), started, say)
	if result.Interrupted {
		r.addReported(started.ID, &result)
	}
	if err := r.keep(started.ID, result); err != nil {
		// This controller has it in memory. The next one will find the run lost.
		log.Error(err, "failed to store the result of a run")
	} else if result.Outcome == run.Succeeded {
		// Not earlier: until the result is on disk, a recovery needs these files.
		r.removeInterrupted(started.Interrupted, say)
	}
	return result
}

// addReported adds what an interrupted run has reported, and its result may lack.
func (r *Runner) addReported(id string, result *run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.runs[id]
	if len(result.UnknownCreates) == 0 {
		result.UnknownCreates = slices.Clone(known.unknownCreates)
	}
	result.Backend = cmp.Or(result.Backend, known.found.Backend)
	result.Emptied = result.Emptied || known.found.Emptied
}

// usable is why this process may not use the work directory.
func (r *Runner) usable() error {
	if r.options.Usable == nil {
		return nil
	}
	return r.options.Usable()
}

// removeInterrupted removes the directories of recovered runs, now that they have been
// read.
func (r *Runner) removeInterrupted(interrupted []run.Interrupted, log func(string)) {
	for _, lost := range interrupted {
		if !validID(lost.ID) {
			continue
		}
		if err := pulumi.Directory(r.dir(lost.ID)).Remove(); err != nil {
			log(fmt.Sprintf("removing the directory of an interrupted run: %v", err))
		}
	}
}

// keep reduces the files of the run to its result.
func (r *Runner) keep(id string, result run.Result) error {
	dir := r.dir(id)
	// First free space: a full disk may be what prevents writing.
	clearErr := pulumi.Directory(dir).ClearBulk()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errors.Join(clearErr, fmt.Errorf("making the directory of the run: %w", err))
	}
	if err := writeResult(dir, result); err != nil || result.Interrupted {
		// Keep the run's events for its recovery.
		return errors.Join(clearErr, err)
	}
	return errors.Join(clearErr, pulumi.Directory(dir).Clear())
}

// settle publishes the result and passes the run's slot on.
func (r *Runner) settle(id string, result run.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.runs[id]
	known.result = &result
	known.cancel(nil) // releases the context's resources
	r.options.Wake(known.stack.Namespace, known.stack.Name)
	known.slots.Release(known.stack)
}
