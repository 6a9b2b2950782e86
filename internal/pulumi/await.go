// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/grammar"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/process"
)

// markOf is in the environment of every process of the run.
func markOf(runID string) string { return grammar.RunVariable + "=" + runID }

// Alive counts the live processes of the run, whoever their parent is.
func Alive(runID string) (int, error) { return process.CountMarked(markOf(runID)) }

// awaitEnd returns when no process of the run is alive. A CLI that its guard has
// interrupted after the controller's death finishes what it has started. It gets time for that, but not
// all of the time of the waiting run. Whatever is left after that is ended.
func (d *Driver) awaitEnd(ctx context.Context, runID string, say func(string)) error {
	grace := d.Grace.withDefaults()
	for _, patience := range []time.Duration{grace.Finish, grace.Abort} {
		if gone, err := cliGoneWithin(ctx, runID, partOf(ctx, patience)); err != nil {
			return err
		} else if gone {
			break
		}
		say("Pulumi does not exit by itself: interrupting it")
		if err := signalCLI(runID, syscall.SIGINT); err != nil {
			return err
		}
	}
	_, err := process.EndMarked(markOf(runID), grace.Kill)
	return err
}

// partOf bounds patience by a third of the time left. Waiting longer would end with the
// run, and the next run would start waiting again: a hanging process would never be asked
// to stop.
func partOf(ctx context.Context, patience time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(patience, time.Until(deadline)/3)
	}
	return patience
}

// cliGoneWithin waits for the CLI of the run to end.
func cliGoneWithin(ctx context.Context, runID string, patience time.Duration) (bool, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; {
		found, err := markedCLI(runID)
		process.Release(found)
		if err != nil || len(found) == 0 {
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case now := <-ticker.C:
			if now.After(deadline) {
				return false, nil
			}
		}
	}
}

func signalCLI(runID string, signal syscall.Signal) error {
	found, err := markedCLI(runID)
	for _, one := range found {
		_ = one.Signal(signal) // fails only if it has ended
	}
	process.Release(found)
	return err
}

// markedCLI lists the processes of the run that are the CLI itself.
func markedCLI(runID string) ([]*os.Process, error) {
	found, err := process.Marked(markOf(runID))
	return slices.DeleteFunc(found, func(one *os.Process) bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", one.Pid))
		if err == nil && strings.TrimSpace(string(name)) == "pulumi" {
			return false
		}
		process.Release([]*os.Process{one})
		return true
	}), err
}
