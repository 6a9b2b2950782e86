// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Driver does runs with the Pulumi CLI. It holds settings only: one Driver does
// any number of runs at a time.
type Driver struct {
	// Bin is the directory of the pulumi program and of its language hosts.
	Bin string
	// Path are the directories after Bin in the PATH of a run.
	Path []string
	// Cache is the directory of the plugins and schemas that all runs share.
	Cache string
	// PassEnv are variables of the controller that every run gets: proxies and
	// certificate authorities. A spec may set them to something else.
	PassEnv map[string]string
	// NoPluginDownload has Pulumi fail where a plugin is not installed.
	NoPluginDownload bool
	// Grace is how long the steps of stopping a run may take.
	Grace Grace
	// Progress, where it is set, is told how far each run has come, from one
	// goroutine at a time for a run.
	Progress func(runID string, progress run.Progress) `json:"-"`
	// UnknownCreates, where it is set, is told of the creations of unknown outcome of
	// a run as soon as its events show one, sorted, and of all of them again when they
	// show another. They are among Result.UnknownCreates in the end. It is called as
	// Progress is.
	UnknownCreates func(runID string, urns []string) `json:"-"`
}

// Do does the run and returns when nothing of it is alive. The artifact of its
// program, if it has one, is in the workspace of the directory already.
//
// When ctx is done the run is stopped gently, which takes as long as Grace says:
// an outcome of TimedOut is told from Cancelled by the cause of ctx. log gets a
// line for each operation on a resource as it goes on, and one for each diagnostic
// in the end, masked and bounded, from one goroutine at a time.
func (d *Driver) Do(ctx context.Context, dir Directory, r run.Run, log func(line string)) run.Result {
	started := time.Now()
	s := &session{driver: d, dir: dir, run: r, log: log}
	s.mask = maskerOf(r)
	s.mask.Follow(r.LateMasks)
	s.events = &events{mask: s.mask}

	last, err := s.work(ctx)
	s.disclose(ctx, last)
	s.learnIDs(ctx)
	s.endLeftovers()

	ended := time.Now()
	result := s.result(s.ending(last, err, context.Cause(ctx)))
	result.StartedAt, result.EndedAt = started, ended
	return result
}
