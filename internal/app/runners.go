// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/controller"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/handover"
	"github.com/flux-pulumi/pulumi-controller/internal/run/local"
	"github.com/flux-pulumi/pulumi-controller/internal/snapshot"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// runners are where runs are executed: where --runner says, and where the runs of a
// controller with another --runner are ended.
type runners struct {
	// all knows both, and current starts runs.
	all     run.Runner
	current runner
	// onDisk has the files of runs on this machine.
	onDisk *local.Runner
	// jobs is the runner of Jobs, and checkBackend is for runs on this machine.
	jobs         controller.Jobs
	checkBackend func(backend string) error
}

func (b base) newRunners(accounts *kubeconfig.Accounts) (runners, error) {
	if b.Runner == JobRunner {
		jobs, err := b.newJobRunner()
		if err != nil {
			return runners{}, err
		}
		earlier := local.New(local.Options{Dir: b.runsDir(), Concurrent: 1, Wake: b.waker.Wake, Log: ctrl.Log})
		return runners{all: handover.Runner{Runner: jobs, Earlier: earlier}, current: jobs, onDisk: earlier, jobs: jobs}, nil
	}
	here, err := b.newLocalRunner(accounts)
	if err != nil {
		return runners{}, err
	}
	earlier, err := b.newDrainer()
	if err != nil {
		return runners{}, err
	}
	return runners{
		all: handover.Runner{Runner: here, Earlier: earlier}, current: here, onDisk: here,
		checkBackend: backendCheck(b.pod),
	}, nil
}

// newLocalRunner makes the runner of runs on this machine.
func (b base) newLocalRunner(accounts *kubeconfig.Accounts) (*local.Runner, error) {
	bin := b.PulumiDir
	if bin == "" {
		path, err := b.LookPath("pulumi")
		if err != nil {
			return nil, fmt.Errorf("failed to find pulumi: install it or set --pulumi-dir: %w", err)
		}
		bin = filepath.Dir(path)
	}
	snapshots, err := b.newSnapshots()
	if err != nil {
		return nil, err
	}
	confined, err := b.newSandbox(bin)
	if err != nil {
		return nil, err
	}
	grace := pulumi.DefaultGrace()
	grace.Finish = b.CancelGrace
	return local.New(local.Options{
		Dir:          b.runsDir(),
		Usable:       b.data.Take,
		Concurrent:   b.ConcurrentRuns,
		PerNamespace: b.ConcurrentRunsPerNamespace,

		ConcurrentInBackground: b.ConcurrentDriftChecks,
		Driver: &pulumi.Driver{
			Bin:              bin,
			Path:             toolDirs(),
			Cache:            b.DataDir,
			PassEnv:          b.PassedEnv,
			PackEnv:          b.PassedEnv,
			NoPluginDownload: !b.AcquirePlugins,
			Snapshots:        snapshots,
			Sandbox:          confined,
			NamespaceUID:     b.namespaceUID,
			Grace:            grace,
			Memory:           cgroup.ReadMemory,
		},
		Fetcher:      source.New(source.Options{Retries: b.HTTPRetry, Hostname: b.SourceLocalhost}),
		Accounts:     accounts,
		Identities:   accounts,
		Wake:         b.waker.Wake,
		NotePatience: notePatience,
		Log:          ctrl.Log,
	}), nil
}

// toolDirs are where runs on this machine look for commands, after Pulumi's directory.
func toolDirs() []string {
	return []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
}

// notePatience is how long a destroy waits for its status to be written: a moment, unless
// the API server is away.
const notePatience = 30 * time.Second

// newSnapshots keeps the dependencies of programs in the data directory.
func (b base) newSnapshots() (pulumi.Snapshots, error) {
	if b.DependencyCacheSize.Sign() == 0 {
		return nil, nil
	}
	store := snapshot.New(filepath.Join(b.DataDir, "dependencies"), b.DependencyCacheSize.Value())
	return metrics.NewSnapshots(ctrlmetrics.Registry, store)
}

// namespaceUID reads the UID of a namespace, which a namespace of the same name that is created later
// does not have.
func (b base) namespaceUID(ctx context.Context, name string) (string, error) {
	namespace := observe.NewNamespaceObject()
	err := b.manager.GetAPIReader().Get(ctx, client.ObjectKey{Name: name}, namespace)
	return string(namespace.UID), err
}

// runsDir is where the files of runs on this machine are.
func (b base) runsDir() string { return filepath.Join(b.DataDir, "runs") }

// sweep removes what earlier processes left in the data directory, except for the runs that
// Stacks still record.
func (b base) sweep(ctx context.Context, onDisk *local.Runner) error {
	if err := b.data.Take(); err != nil {
		ctrl.Log.Error(err, "what earlier processes left is not removed")
		return nil
	}
	inUse, err := b.records.InUse(ctx)
	if err != nil {
		return err
	}
	if err := onDisk.Sweep(func(id string) bool { return inUse[id] }); err != nil {
		// The next start tries again. The Stacks whose runs cannot start say what is wrong
		// with the disk.
		ctrl.Log.Error(err, "what earlier processes left cannot be removed")
	}
	return nil
}
