// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"time"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/sandbox"
)

// Driver executes runs with the Pulumi CLI. It holds only settings, so one Driver can
// execute any number of runs concurrently.
type Driver struct {
	// Bin is the directory of the pulumi binary and its language hosts.
	Bin string
	// Path lists the directories that follow Bin in the PATH of a run.
	Path []string
	// Cache is the directory of the plugins and schemas shared by all runs.
	Cache string
	// PassEnv holds variables of the controller that every run gets: proxies and
	// certificate authorities. A spec may override them.
	PassEnv map[string]string
	// PackEnv holds variables that every policy pack gets: those of the platform, and none that
	// whoever writes a Stack can set.
	PackEnv map[string]string
	// NoPluginDownload makes Pulumi fail if a plugin is not installed.
	NoPluginDownload bool
	// Snapshots, if set, keep the dependencies of programs from one run to the next.
	Snapshots Snapshots `json:"-"`
	// NamespaceUID, if set, returns what distinguishes a namespace from one that had its name
	// before: snapshots are not shared between them.
	NamespaceUID func(ctx context.Context, namespace string) (string, error) `json:"-"`
	// KeepLog returns the end of the log in the Result, masked once more, as more secrets
	// are known at the end of a run than when a line is logged.
	KeepLog bool
	// Grace limits how long each step of stopping a run may take.
	Grace Grace
	// PackStart is how long a policy pack may take to start, defaultPackStart if it is zero.
	PackStart time.Duration
	// Sandbox, if set, restricts the processes of each run.
	Sandbox *sandbox.Sandbox `json:"-"`
	// Memory, if set, reads the memory that the processes of runs may use, and how many of
	// them were killed for exceeding it.
	Memory func() cgroup.Memory `json:"-"`
}

// Do executes the run and returns once none of its processes is alive. The program's
// artifact, if there is one, is already in the workspace of the directory.
//
// When ctx is done, the run is stopped gently, within the limits of Grace; the cause of
// ctx distinguishes TimedOut from Cancelled. log receives a line for each resource
// operation as it happens and one for each diagnostic at the end, masked and bounded,
// from one goroutine at a time.
func (d *Driver) Do(ctx context.Context, dir Directory, r run.Run, log func(line string)) run.Result {
	started := time.Now()
	kept := keptLog{log: log}
	s := &session{driver: d, dir: dir, run: r, log: kept.add}
	s.mask = maskerOf(r)
	s.mask.Follow(r.LateMasks)
	s.events = &events{mask: s.mask}
	if d.Memory != nil {
		s.oomKills = d.Memory().Kills
	}

	last, err := s.workAlone(ctx)

	ended, cause := time.Now(), context.Cause(ctx)
	s.share(ctx)
	result := s.result(s.ending(last, err, cause))
	result.StartedAt, result.EndedAt = started, ended
	s.noteTypeCheck(result.Outcome)
	if end := kept.masked(s.mask); d.KeepLog {
		result.Log = end
	} else {
		result.Tail = end
	}
	return result
}

// workAlone leaves no process of the run alive, not even after a panic.
func (s *session) workAlone(ctx context.Context) (exit, error) {
	defer s.leaveGoCache()
	defer s.giveBackDependencies()
	defer s.endLeftovers()
	last, err := s.work(ctx)
	s.disclose(ctx, last)
	return last, err
}
