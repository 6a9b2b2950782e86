// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// cancelInterval is how often to check the Secret for a cancellation. The Secret is small
// by then: the run has been removed from it.
const cancelInterval = 5 * time.Second

// watchCancel ends the run when its Secret says so. It closes abort if the operations in
// flight are not to be waited for, which may be requested later. It returns after that,
// or when ctx is done.
func watchCancel(ctx context.Context, secret Secret, log logr.Logger, interval time.Duration, end context.CancelCauseFunc, abort chan<- struct{}) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switch readCancel(ctx, secret, log) {
		case exchange.CancelNow:
			end(run.ErrCancelled)
			close(abort)
			return
		case exchange.CancelGently:
			end(run.ErrCancelled)
		}
	}
}

func readCancel(ctx context.Context, secret Secret, log logr.Logger) exchange.Cancel {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := secret.Get(ctx)
	if err != nil {
		log.V(1).Info("failed to check whether the run is cancelled", "error", err.Error())
		return exchange.NotCancelled
	}
	return exchange.DecodeCancel(found.Data[exchange.CancelKey])
}
