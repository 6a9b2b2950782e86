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
)

// awaitEnd returns when no process of the run is alive. A CLI that is told by
// its guard that its controller has died finishes what it has begun, and is given
// the time for that, but no more than leaves some for the run that waits; what it
// leaves behind is ended.
func (d *Driver) awaitEnd(ctx context.Context, runID string, say func(string)) error {
	grace := d.Grace.withDefaults()
	for _, patience := range []time.Duration{grace.Finish, grace.Abort} {
		if gone, err := cliGoneWithin(ctx, runID, partOf(ctx, patience)); err != nil {
			return err
		} else if gone {
			break
		}
		say("Pulumi does not end by itself, and is told to stop")
		if err := signalCLI(runID, syscall.SIGINT); err != nil {
			return err
		}
	}
	_, err := endLeftovers(runID, grace.Kill)
	return err
}

// partOf bounds a patience by a third of the time that is left. Waiting for longer
// than that would end with the run, and the next would wait from the beginning: a
// process that hangs would never be told to stop.
func partOf(ctx context.Context, patience time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(patience, time.Until(deadline)/3)
	}
	return patience
}

// cliGoneWithin waits for the end of the CLI of the run.
func cliGoneWithin(ctx context.Context, runID string, patience time.Duration) (bool, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; {
		found, err := markedCLI(runID)
		release(found)
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
	for _, process := range found {
		_ = process.Signal(signal) // no error but that it has ended
	}
	release(found)
	return err
}

// markedCLI lists the processes of the run that are the CLI itself.
func markedCLI(runID string) ([]*os.Process, error) {
	found, err := marked(runID)
	return slices.DeleteFunc(found, func(process *os.Process) bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", process.Pid))
		if err == nil && strings.TrimSpace(string(name)) == "pulumi" {
			return false
		}
		release([]*os.Process{process})
		return true
	}), err
}
