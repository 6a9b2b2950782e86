// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"time"

	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	fluxmetrics "github.com/fluxcd/pkg/runtime/metrics"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/cgroup"
	"github.com/flux-pulumi/pulumi-controller/internal/controller"
	"github.com/flux-pulumi/pulumi-controller/internal/holder"
	"github.com/flux-pulumi/pulumi-controller/internal/inputs"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
	"github.com/flux-pulumi/pulumi-controller/internal/program/check"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run/handover"
	"github.com/flux-pulumi/pulumi-controller/internal/run/inplace"
	"github.com/flux-pulumi/pulumi-controller/internal/run/local"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// run runs the controller until ctx is done or something fails that it cannot
// go on without.
func run(ctx context.Context, c config) error {
	for _, warning := range c.warnings() {
		ctrl.Log.Info(warning)
	}
	data := &dataDir{path: c.dataDir}
	defer data.Close()
	if err := data.Take(); errors.Is(err, errInUse) {
		return err
	} else if err != nil {
		ctrl.Log.Error(err, "no run can be started before the data directory can be written")
	}
	restConfig, err := clusterConfig(ctx, c)
	if err != nil {
		return err
	}
	accounts, err := kubeconfig.New(restConfig)
	if err != nil {
		return err
	}
	waker := &controller.Waker{}
	mgr, err := newManager(c, restConfig)
	if err != nil {
		return err
	}
	reconciler := newReconciler(c, mgr)
	runner, err := newPlace(ctx, c, mgr, restConfig, data, waker, accounts, reconciler)
	if err != nil {
		return err
	}
	events, err := notify.ForManager(mgr, c.eventsAddr, controllerName, ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	defer sendLast(events)
	reconciler.Events, reconciler.Accounts = events, accounts
	if reconciler.Runs, err = metrics.NewRuns(ctrlmetrics.Registry, runner); err != nil {
		return err
	}
	if err := identify(ctx, c, mgr, data, reconciler); err != nil {
		return err
	}
	configs, err := runtimectrl.GetWatchConfigsPredicate(c.watch)
	if err != nil {
		return fmt.Errorf("failed to read --watch-configs-label-selector: %w", err)
	}
	if err := reconciler.SetupWithManager(ctx, mgr, controller.StackReconcilerOptions{
		RateLimiter: c.rateLimiter, Waker: waker,
		Configs: configs, IgnoreConfigs: c.disableConfigWatchers,
	}); err != nil {
		return err
	}
	if err := addProgramReconciler(c, mgr, reconciler); err != nil {
		return err
	}
	return serve(ctx, c, mgr, reconciler, runner)
}

// identify tells the reconciler who records its runs, and how to prove that another is
// gone.
func identify(ctx context.Context, c config, mgr ctrl.Manager, data *dataDir, reconciler *controller.StackReconciler) error {
	here, err := holder.This(data.Locked())
	if err != nil {
		return err
	}
	pod, err := holder.OwnPod(ctx, mgr.GetAPIReader(), c.runtimeNamespace)
	if err != nil {
		return err
	}
	reconciler.Holder = holder.InPod(here, pod)
	reconciler.Holders = holders{holder.Prover{Here: reconciler.Holder, Reader: mgr.GetAPIReader()}, data}
	return nil
}

// newReconciler makes the reconciler of Stacks, but for what does its runs, says who it
// is and whom it tells.
func newReconciler(c config, mgr ctrl.Manager) *controller.StackReconciler {
	return &controller.StackReconciler{
		Client:               mgr.GetClient(),
		APIReader:            mgr.GetAPIReader(),
		Metrics:              runtimectrl.NewMetrics(mgr, fluxmetrics.MustMakeRecorder(), v1.StackFinalizer),
		Sources:              source.Resolver{Client: mgr.GetClient(), NoCrossNamespaceRefs: c.noCrossNamespaceRefs},
		NoCrossNamespaceRefs: c.noCrossNamespaceRefs,
		CheckProgram:         check.Check,
		ControllerRefs:       controllerRefs(c),
		RefuseLocalPrograms:  !c.allowPreviewPrograms,
		Jitter:               jittered(c.interval.Percentage),
		Now:                  time.Now,

		DefaultServiceAccount:      c.defaultServiceAccount,
		AdditiveCELDependencyCheck: c.additiveCELDependencyCheck,
		PartialCache:               c.watchesPart(),
		RequeueDependency:          c.requeueDependency,
	}
}

// controllerRefs is what Stacks may read of the controller: by default nothing.
func controllerRefs(c config) *inputs.Controller {
	if !c.allowControllerRefs {
		return nil
	}
	return &inputs.Controller{LookupEnv: c.lookupEnv}
}

// addProgramReconciler adds the reconciler of Programs, with the metrics and the
// events of that of Stacks.
func addProgramReconciler(c config, mgr ctrl.Manager, stacks *controller.StackReconciler) error {
	selector, err := metav1.ParseToLabelSelector(c.watch.LabelSelector)
	if err != nil {
		return fmt.Errorf("failed to read --watch-label-selector: %w", err)
	}
	programs := &controller.ProgramReconciler{Client: mgr.GetClient(), Metrics: stacks.Metrics, Events: stacks.Events, Check: check.Check, Now: time.Now}
	return programs.SetupWithManager(mgr, controller.ProgramReconcilerOptions{RateLimiter: c.rateLimiter, Selector: *selector})
}

// sweep removes what earlier processes left in the data directory, but for the
// runs that Stacks still know of.
func sweep(ctx context.Context, data *dataDir, records controller.RunRecords, runner *local.Runner) error {
	if err := data.Take(); err != nil {
		ctrl.Log.Error(err, "what earlier processes left is not removed")
		return nil
	}
	inUse, err := records.InUse(ctx)
	if err != nil {
		return err
	}
	if err := runner.Sweep(func(id string) bool { return inUse[id] }); err != nil {
		// The next start tries again. What is wrong with the disk is told by the
		// Stacks whose runs it keeps from starting.
		ctrl.Log.Error(err, "what earlier processes left cannot be removed")
	}
	return nil
}

// newPlace makes the runner that --runner asks for, and has the reconciler use it. The runs
// of a controller with another --runner are ended where they are.
func newPlace(ctx context.Context, c config, mgr ctrl.Manager, restConfig *rest.Config, data *dataDir, waker *controller.Waker,
	accounts inplace.Accounts, reconciler *controller.StackReconciler,
) (place, error) {
	records := controller.RunRecords{Cached: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Namespace: watchedNamespace(c)}
	if c.runner == runnerJob {
		jobs, err := newJobRunner(ctx, c, mgr, restConfig, waker, records)
		if err != nil {
			return nil, err
		}
		earlier := local.New(local.Options{Dir: runsDir(c), Concurrent: 1, Wake: waker.Wake, Log: ctrl.Log})
		reconciler.Runner, reconciler.Jobs = handover.Runner{Runner: jobs, Earlier: earlier}, jobs
		return jobs, sweep(ctx, data, records, earlier)
	}
	pod, err := holder.OwnPod(ctx, mgr.GetAPIReader(), c.runtimeNamespace)
	if err != nil {
		return nil, err
	}
	reconciler.CheckBackend = backendCheck(pod)
	here, err := newRunner(c, data, waker, accounts)
	if err != nil {
		return nil, err
	}
	earlier, err := newDrainer(c, mgr, waker, records)
	if err != nil {
		return nil, err
	}
	reconciler.Runner = handover.Runner{Runner: here, Earlier: earlier}
	return here, sweep(ctx, data, records, here)
}

// runsDir is where the files of runs on this machine are.
func runsDir(c config) string { return filepath.Join(c.dataDir, "runs") }

// newRunner makes the runner of runs on this machine.
func newRunner(c config, data *dataDir, waker *controller.Waker, accounts inplace.Accounts) (*local.Runner, error) {
	bin := c.pulumiDir
	if bin == "" {
		path, err := exec.LookPath("pulumi")
		if err != nil {
			return nil, fmt.Errorf("failed to find pulumi: install it or set --pulumi-dir: %w", err)
		}
		bin = filepath.Dir(path)
	}
	grace := pulumi.DefaultGrace()
	grace.Finish = c.cancelGrace
	driver := &pulumi.Driver{
		Bin:              bin,
		Path:             []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"},
		Cache:            c.dataDir,
		PassEnv:          c.passedEnv,
		NoPluginDownload: !c.acquirePlugins,
		Grace:            grace,
		Memory:           cgroup.ReadMemory,
	}
	return local.New(local.Options{
		Dir:          runsDir(c),
		Usable:       data.Take,
		Concurrent:   c.concurrentRuns,
		PerNamespace: c.concurrentRunsPerNamespace,
		Driver:       driver,
		Fetcher:      source.New(source.Options{Retries: c.httpRetry, Hostname: c.sourceLocalhost}),
		Accounts:     accounts,
		Wake:         waker.Wake,
		NotePatience: notePatience,
		Log:          ctrl.Log,
	}), nil
}

// notePatience is how long a destroy waits for its status to be written: a moment, unless
// the API server is away.
const notePatience = 30 * time.Second

// jittered spreads durations by the percentage to both sides. The shared
// package's own function is not safe for concurrent reconciles
// (pkg/runtime/jitter closes over one rand.Rand), so only its flag is used.
func jittered(percentage uint8) func(time.Duration) time.Duration {
	return func(d time.Duration) time.Duration {
		spread := int64(d) * int64(percentage) / 100
		if spread <= 0 {
			return d
		}
		return d + time.Duration(rand.Int64N(2*spread+1)-spread)
	}
}
