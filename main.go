// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-controller is the Flux controller for Pulumi: it keeps the
// infrastructure that Stacks describe as their programs say.
//
// This file turns flags and the environment into a config and runs it. It is
// the only place that reads either, and the only one that may exit.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/fluxcd/cli-utils/pkg/flowcontrol"
	"github.com/fluxcd/pkg/runtime/acl"
	runtimeclient "github.com/fluxcd/pkg/runtime/client"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/features"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/leaderelection"
	"github.com/fluxcd/pkg/runtime/logger"
	fluxmetrics "github.com/fluxcd/pkg/runtime/metrics"
	"github.com/fluxcd/pkg/runtime/pprof"
	"github.com/fluxcd/pkg/runtime/probes"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	flag "github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/controller"
	"github.com/flux-pulumi/pulumi-controller/internal/kubeconfig"
	"github.com/flux-pulumi/pulumi-controller/internal/metrics"
	"github.com/flux-pulumi/pulumi-controller/internal/notify"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi"
	"github.com/flux-pulumi/pulumi-controller/internal/run/local"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

// controllerName is how the controller calls itself in events, metrics and
// leases.
const controllerName = "pulumi-controller"

// config is all that can be set.
type config struct {
	metricsAddr string
	eventsAddr  string
	healthAddr  string

	concurrent     int
	concurrentRuns int
	httpRetry      int

	dataDir              string
	pulumiDir            string
	acquirePlugins       bool
	cancelGrace          time.Duration
	gracefulShutdown     time.Duration
	noCrossNamespaceRefs bool

	defaultServiceAccount      string
	additiveCELDependencyCheck bool
	requeueDependency          time.Duration
	disableConfigWatchers      bool

	client         runtimeclient.Options
	logger         logger.Options
	leaderElection leaderelection.Options
	rateLimiter    runtimectrl.RateLimiterOptions
	watch          runtimectrl.WatchOptions
	interval       jitter.IntervalOptions

	// From the environment.
	runtimeNamespace string
	sourceLocalhost  string
	passedEnv        map[string]string
}

func main() {
	c, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return // asked for, and printed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	logger.SetLogger(logger.NewLogger(c.logger))
	if err := run(ctrl.SetupSignalHandler(), c); err != nil {
		ctrl.Log.Error(err, "the controller ends")
		os.Exit(1)
	}
}

// parse reads the flags and the environment.
func parse(args []string) (config, error) {
	c := config{
		runtimeNamespace: os.Getenv(runtimectrl.EnvRuntimeNamespace),
		sourceLocalhost:  os.Getenv(runtimectrl.EnvSourceLocalhost),
		passedEnv:        passedEnv(os.LookupEnv),
	}
	fs := flag.NewFlagSet(controllerName, flag.ContinueOnError)
	fs.SetOutput(os.Stdout) // of --help; an error is returned
	var access acl.Options
	var gates features.FeatureGates
	if err := bindFlags(fs, &c, &access, &gates); err != nil {
		return c, err
	}
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if err := c.readFeatures(&gates); err != nil {
		return c, fmt.Errorf("--feature-gates: %w", err)
	}
	c.noCrossNamespaceRefs = access.NoCrossNamespaceRefs
	return c, c.validate()
}

// bindFlags defines the flags. docs/flags.md lists them.
func bindFlags(fs *flag.FlagSet, c *config, access *acl.Options, gates *features.FeatureGates) error {
	fs.StringVar(&c.metricsAddr, "metrics-addr", ":8080", "The address the metric endpoint binds to.")
	fs.StringVar(&c.eventsAddr, "events-addr", "", "The address of the events receiver.")
	fs.StringVar(&c.healthAddr, "health-addr", ":9440", "The address the health endpoint binds to.")
	fs.IntVar(&c.concurrent, "concurrent", 4, "The number of concurrent Stack reconciles. A reconcile does not wait for a run.")
	fs.IntVar(&c.concurrentRuns, "concurrent-runs", 4, "The number of Pulumi runs at a time.")
	fs.IntVar(&c.httpRetry, "http-retry", 9, "The maximum number of retries when failing to fetch artifacts over HTTP.")
	fs.StringVar(&c.dataDir, "data-dir", filepath.Join(os.TempDir(), controllerName),
		"The directory for the workspaces of runs and for Pulumi's plugins. It belongs to one controller process at a time.")
	fs.StringVar(&c.pulumiDir, "pulumi-dir", "", "The directory of the pulumi program and its language hosts. Defaults to where pulumi is found on PATH.")
	fs.BoolVar(&c.acquirePlugins, "acquire-plugins", true, "Let Pulumi download provider plugins that are not in the data directory.")
	fs.DurationVar(&c.cancelGrace, "cancel-grace", 5*time.Minute, "How long a run that is told to stop may take to finish the operations in flight.")
	fs.DurationVar(&c.gracefulShutdown, "graceful-shutdown-timeout", 10*time.Minute, "How long the controller waits for runs in flight before it ends.")

	fs.StringVar(&c.defaultServiceAccount, "default-service-account", "",
		"The service account whose rights in the cluster a program has whose Stack names none. It is in the namespace of the Stack.")
	fs.DurationVar(&c.requeueDependency, "requeue-dependency", 30*time.Second,
		"When to look again at Stacks that are waited for and that this controller does not watch, as those of another shard. All others are watched.")

	access.BindFlags(fs)
	gates.BindFlags(fs)
	c.client.BindFlags(fs)
	c.logger.BindFlags(fs)
	c.leaderElection.BindFlags(fs)
	c.rateLimiter.BindFlags(fs)
	c.watch.BindFlags(fs)
	c.interval.BindFlags(fs)
	return errors.Join(
		// Running a program is running code, so sharing across namespaces is for the
		// administrator to allow: Flux's own default is the other way round.
		setDefault(fs, "no-cross-namespace-refs", "true"),
		// Others let only those Secrets and ConfigMaps wake them that have a label. What
		// a Stack refers to is its input as its program is, and a rotated credential
		// that is not taken up is an outage.
		setDefault(fs, "watch-configs-label-selector", ""),
	)
}

// readFeatures reads each feature gate once. All are off by default.
func (c *config) readFeatures(gates *features.FeatureGates) error {
	fields := map[string]*bool{
		runtimectrl.FeatureGateAdditiveCELDependencyCheck: &c.additiveCELDependencyCheck,
		runtimectrl.FeatureGateDisableConfigWatchers:      &c.disableConfigWatchers,
	}
	supported := make(map[string]bool, len(fields))
	for name := range fields {
		supported[name] = false
	}
	if err := gates.SupportedFeatures(supported); err != nil {
		return err
	}
	for name, field := range fields {
		enabled, err := features.Enabled(name)
		if err != nil {
			return err
		}
		*field = enabled
	}
	return nil
}

// setDefault gives a flag of a shared package another default.
func setDefault(fs *flag.FlagSet, name, value string) error {
	f := fs.Lookup(name)
	if f == nil {
		return fmt.Errorf("flag --%s is not defined", name)
	}
	f.DefValue = value
	return f.Value.Set(value)
}

// passedEnv is what the controller hands on of its own environment to Pulumi:
// how to reach the network, and nothing else.
func passedEnv(lookup func(string) (string, bool)) map[string]string {
	passed := map[string]string{}
	for _, name := range []string{
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	} {
		if value, ok := lookup(name); ok {
			passed[name] = value
		}
	}
	return passed
}

func (c config) validate() error {
	switch {
	case c.concurrent < 1:
		return fmt.Errorf("--concurrent must be at least 1, not %d", c.concurrent)
	case c.concurrentRuns < 1:
		return fmt.Errorf("--concurrent-runs must be at least 1, not %d", c.concurrentRuns)
	case c.httpRetry < 0:
		return fmt.Errorf("--http-retry must not be negative, not %d", c.httpRetry)
	case c.requeueDependency <= 0:
		return fmt.Errorf("--requeue-dependency must be positive, not %s", c.requeueDependency)
	case c.interval.Percentage >= 100:
		return fmt.Errorf("--interval-jitter-percentage must be less than 100, not %d", c.interval.Percentage)
	case !c.watch.AllNamespaces && c.runtimeNamespace == "":
		return fmt.Errorf("--watch-all-namespaces=false needs the environment variable %s", runtimectrl.EnvRuntimeNamespace)
	}
	return nil
}

// watchesPart tells whether there may be Stacks that those of this controller refer
// to and that it does not watch.
func (c config) watchesPart() bool {
	return c.watch.LabelSelector != "" || (!c.watch.AllNamespaces && !c.noCrossNamespaceRefs)
}

// warning tells what works and is likely not meant, "" for nothing.
func (c config) warning() string {
	if c.cancelGrace < c.gracefulShutdown {
		return ""
	}
	return fmt.Sprintf("--cancel-grace (%s) should be less than --graceful-shutdown-timeout (%s): "+
		"the controller ends before the runs that it tells to stop, and the next one has to recover from them", c.cancelGrace, c.gracefulShutdown)
}

// run runs the controller until ctx is done or something fails that it cannot
// go on without.
func run(ctx context.Context, c config) error {
	if warning := c.warning(); warning != "" {
		ctrl.Log.Info(warning)
	}
	data := &dataDir{path: c.dataDir}
	defer data.Close()
	if err := data.Take(); errors.Is(err, errInUse) {
		return err
	} else if err != nil {
		ctrl.Log.Error(err, "no run can be started before the data directory can be written")
	}
	holder, err := controller.ThisHolder(data.Locked())
	if err != nil {
		return err
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
	runner, err := newRunner(c, data, waker, accounts)
	if err != nil {
		return err
	}
	mgr, err := newManager(c, restConfig)
	if err != nil {
		return err
	}
	configs, err := runtimectrl.GetWatchConfigsPredicate(c.watch)
	if err != nil {
		return fmt.Errorf("failed to read --watch-configs-label-selector: %w", err)
	}
	events, err := notify.ForManager(mgr, c.eventsAddr, controllerName, ctrlmetrics.Registry)
	if err != nil {
		return err
	}
	defer sendLast(events)
	runs, err := metrics.NewRuns(ctrlmetrics.Registry, runner)
	if err != nil {
		return err
	}
	holder, podNamespace, err := controller.InPod(ctx, mgr.GetAPIReader(), holder, c.runtimeNamespace)
	if err != nil {
		return err
	}
	reconciler := &controller.StackReconciler{
		Client:               mgr.GetClient(),
		APIReader:            mgr.GetAPIReader(),
		Metrics:              runtimectrl.NewMetrics(mgr, fluxmetrics.MustMakeRecorder(), v1.StackFinalizer),
		Runs:                 runs,
		Progress:             runner.Progress,
		Events:               events,
		Runner:               runner,
		Ending:               runner.Closed,
		Holder:               holder,
		Holders:              holders{controller.Holders{Here: holder, Reader: mgr.GetAPIReader(), Namespace: podNamespace}, data},
		Sources:              source.Resolver{Client: mgr.GetClient(), NoCrossNamespaceRefs: c.noCrossNamespaceRefs},
		Accounts:             accounts,
		NoCrossNamespaceRefs: c.noCrossNamespaceRefs,
		Jitter:               jittered(c.interval.Percentage),
		Now:                  time.Now,

		DefaultServiceAccount:      c.defaultServiceAccount,
		AdditiveCELDependencyCheck: c.additiveCELDependencyCheck,
		PartialCache:               c.watchesPart(),
		RequeueDependency:          c.requeueDependency,
	}
	if err := reconciler.SetupWithManager(ctx, mgr, controller.StackReconcilerOptions{
		RateLimiter: c.rateLimiter, Waker: waker,
		Configs: configs, IgnoreConfigs: c.disableConfigWatchers,
	}); err != nil {
		return err
	}
	if err := sweep(ctx, c, data, reconciler, runner); err != nil {
		return err
	}
	return serve(ctx, c, mgr, reconciler, runner)
}

// sweep removes what earlier processes left in the data directory, but for the
// runs that Stacks still know of.
func sweep(ctx context.Context, c config, data *dataDir, reconciler *controller.StackReconciler, runner *local.Runner) error {
	if err := data.Take(); err != nil {
		ctrl.Log.Error(err, "what earlier processes left is not removed")
		return nil
	}
	var where []client.ListOption
	if !c.watch.AllNamespaces {
		where = append(where, client.InNamespace(c.runtimeNamespace))
	}
	inUse, err := reconciler.RunsInUse(ctx, where...)
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

// serve runs the manager. When ctx is done no new run starts, and the runs in
// flight are told to stop, are waited for and absorbed before the manager ends:
// until then this process keeps its lease, and what happened to each run is
// written as at any other time. When the manager ends by itself, as it does with
// the loss of its lease, that is done without it. The time for all of that is
// gracefulShutdown, counted once: a pod is killed when it has passed.
func serve(ctx context.Context, c config, mgr ctrl.Manager, reconciler *controller.StackReconciler, runner *local.Runner) error {
	life, end := context.WithCancel(context.Background())
	defer end()
	patience := sync.OnceValues(func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), c.gracefulShutdown)
	})
	stop := context.AfterFunc(ctx, func() {
		defer end()
		patience, _ := patience()
		if err := runner.Shutdown(patience); err != nil {
			ctrl.Log.Error(err, "runs are still in flight, and are left to the next process")
			return
		}
		// A result that cannot be written, as when the API server is away, must not
		// keep the lease. It is tried again without, for what is left of the time,
		// and then stays on disk for the next process.
		absorbing, cancel := context.WithTimeout(patience, absorbTimeout)
		defer cancel()
		runner.AwaitForgotten(absorbing)
	})
	defer stop()
	managerErr := mgr.Start(life)
	left, cancel := patience()
	defer cancel()
	shutdownErr := runner.Shutdown(left)
	inFlight := runner.InFlight()
	if left.Err() != nil {
		// What is known is written all the same: that takes no waiting.
		writing, cancel := context.WithTimeout(context.Background(), lastWrites)
		defer cancel()
		left = writing
	}
	return errors.Join(managerErr, shutdownErr, reconciler.WriteAll(left, runner.Ended(), inFlight))
}

// absorbTimeout is how long the results of runs that have ended may take to be
// absorbed before the manager ends.
const absorbTimeout = 30 * time.Second

// lastWrites is how long what is known of the runs may take to be written when the
// time of the shutdown has passed.
const lastWrites = 5 * time.Second

// sendLast sends the events that wait when everything else has ended, those of the
// last results included. Whether they arrive decides nothing, so it is not waited
// for long.
func sendLast(events *notify.Queue) {
	ctx, cancel := context.WithTimeout(context.Background(), lastEvents)
	defer cancel()
	if err := events.Close(ctx); err != nil {
		ctrl.Log.Error(err, "events are not sent")
	}
}

// lastEvents is how long the events that wait at the end may take to be sent: one
// attempt of the recorder.
const lastEvents = 5 * time.Second

// newRunner makes the runner of runs on this machine.
func newRunner(c config, data *dataDir, waker *controller.Waker, accounts local.Accounts) (*local.Runner, error) {
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
	}
	runner := local.New(local.Options{
		Dir:        filepath.Join(c.dataDir, "runs"),
		Usable:     data.Take,
		Concurrent: c.concurrentRuns,
		Driver:     driver,
		Fetcher:    source.New(source.Options{Retries: c.httpRetry, Hostname: c.sourceLocalhost}),
		Accounts:   accounts,
		Ended:      waker.Wake,
		Log:        ctrl.Log,
	})
	driver.Progress = runner.NoteProgress
	return runner, nil
}

// clusterConfig is how the API server is reached.
func clusterConfig(ctx context.Context, c config) (*rest.Config, error) {
	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("failed to find the API server: %w", err)
	}
	// Each Stack brings the same warnings, as that of the name of the finalizer.
	restConfig.WarningHandlerWithContext = ctrllog.NewKubeAPIWarningLogger(ctrllog.KubeAPIWarningLoggerOptions{Deduplicate: true})
	limitRate(ctx, restConfig, c.client)
	return restConfig, nil
}

// limitRate has the client limit its requests only where the API server does not
// share itself out fairly, as the shared package does, whose own function exits
// where there is no API server and waits for one for ever.
func limitRate(ctx context.Context, restConfig *rest.Config, limits runtimeclient.Options) {
	ctx, cancel := context.WithTimeout(ctx, flowControlTimeout)
	defer cancel()
	if fair, err := flowcontrol.IsEnabled(ctx, restConfig); err == nil && fair {
		restConfig.QPS, restConfig.Burst = -1, -1
		return
	}
	restConfig.QPS, restConfig.Burst = limits.QPS, limits.Burst
}

// flowControlTimeout is how long the API server may take to tell whether it has
// Priority and Fairness.
const flowControlTimeout = 10 * time.Second

// newManager makes the manager, with Secrets and ConfigMaps kept out of its
// cache: only their metadata is watched.
func newManager(c config, restConfig *rest.Config) (ctrl.Manager, error) {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{clientgoscheme.AddToScheme, sourcev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("failed to build the scheme: %w", err)
		}
	}
	selector, err := runtimectrl.GetWatchSelector(c.watch)
	if err != nil {
		return nil, fmt.Errorf("failed to read --watch-label-selector: %w", err)
	}
	leaderElectionID := controllerName + "-leader-election"
	if c.watch.LabelSelector != "" {
		leaderElectionID = leaderelection.GenerateID(leaderElectionID, c.watch.LabelSelector)
	}
	options := ctrl.Options{
		Scheme:                        scheme,
		HealthProbeBindAddress:        c.healthAddr,
		LeaderElection:                c.leaderElection.Enable,
		LeaderElectionReleaseOnCancel: c.leaderElection.ReleaseOnCancel,
		LeaseDuration:                 &c.leaderElection.LeaseDuration,
		RenewDeadline:                 &c.leaderElection.RenewDeadline,
		RetryPeriod:                   &c.leaderElection.RetryPeriod,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       c.runtimeNamespace, // empty: the namespace of the pod
		Logger:                        ctrl.Log,
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
		Cache:                         cache.Options{ByObject: map[client.Object]cache.ByObject{&v1.Stack{}: {Label: selector}}},
		Metrics:                       metricsserver.Options{BindAddress: c.metricsAddr, ExtraHandlers: pprof.GetHandlers()},
		Controller:                    ctrlconfig.Controller{MaxConcurrentReconciles: c.concurrent, RecoverPanic: ptr.To(true)},
	}
	if !c.watch.AllNamespaces {
		options.Cache.DefaultNamespaces = map[string]cache.Config{c.runtimeNamespace: {}}
	}
	mgr, err := ctrl.NewManager(restConfig, options)
	if err != nil {
		return nil, fmt.Errorf("failed to make the manager: %w", err)
	}
	probes.SetupChecks(mgr, ctrl.Log)
	return mgr, nil
}

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
