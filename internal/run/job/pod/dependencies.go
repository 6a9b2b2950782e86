// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flux-pulumi/pulumi-controller/internal/snapshot/keeper"
)

// keeperPatience is how long the container of the keeper may take to start after this one.
const keeperPatience = 2 * time.Minute

// errNoKeeper is why a run is not started: its program could be the first that the keeper serves.
var errNoKeeper = errors.New("the container of the pod that keeps dependencies did not start")

// openSnapshots connects to the keeper before anything else is started. It returns nil if there
// are no snapshots.
func (o Options) openSnapshots(ctx context.Context) (*keeper.Client, error) {
	switch {
	case o.DependenciesDir == "":
		return nil, nil
	case o.Keeper == "":
		return keeper.ReadOnly(o.DependenciesDir), nil
	}
	// Programs have the user of this process, and must not take over its connection.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("closing the memory of the runner: %w", err)
	}
	waiting, cancel := context.WithTimeoutCause(ctx, keeperPatience, errNoKeeper)
	defer cancel()
	return keeper.Dial(waiting, o.Keeper, o.DependenciesDir, o.KeptSnapshots)
}
