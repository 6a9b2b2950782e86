// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errShutdown is the cause of stopping the runs in flight.
var errShutdown = errors.New("the controller is shutting down")

// Shutdown starts no more runs, stops those in flight gently and waits for them. Their
// results stay, for this controller or the next to absorb. It returns the error of ctx
// if that is done first.
func (r *Runner) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end(errShutdown)
	ended := make(chan struct{})
	go func() {
		r.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for runs in flight to end: %w", context.Cause(ctx))
	}
}

// Closed implements run.Runner.
func (r *Runner) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// AwaitForgotten returns when the results of all ended runs are absorbed, or when ctx
// is done.
func (r *Runner) AwaitForgotten(ctx context.Context) {
	ticker := time.NewTicker(forgottenInterval)
	defer ticker.Stop()
	for len(r.Ended()) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// forgottenInterval is how often AwaitForgotten checks.
const forgottenInterval = 20 * time.Millisecond
