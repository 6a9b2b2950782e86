// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-controller is the Flux controller for Pulumi: it keeps the
// infrastructure of Stacks in line with their programs.
//
// This file turns flags and the environment into a config and runs it. It is the only
// place that reads either, and the only one that may exit.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fluxcd/pkg/runtime/acl"
	runtimeclient "github.com/fluxcd/pkg/runtime/client"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/features"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/leaderelection"
	"github.com/fluxcd/pkg/runtime/logger"
	flag "github.com/spf13/pflag"
	psaapi "k8s.io/pod-security-admission/api"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

// controllerName is the name of the controller in events, metrics and leases.
const controllerName = "pulumi-controller"

// config is all that can be configured.
type config struct {
	metricsAddr string
	eventsAddr  string
	healthAddr  string

	concurrent     int
	concurrentRuns int
	httpRetry      int

	concurrentRunsPerNamespace int
	runner                     string
	runnerImage                string
	runnerPodSecurity          string
	runnerWorkspaceTemplate    string

	dataDir              string
	pulumiDir            string
	acquirePlugins       bool
	cancelGrace          time.Duration
	gracefulShutdown     time.Duration
	noCrossNamespaceRefs bool
	allowControllerRefs  bool
	allowPreviewPrograms bool

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
	// lookupEnv reads the environment for Stacks, with --allow-controller-refs.
	lookupEnv func(name string) (string, bool)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == runnerCommand {
		code, err := runRunner(os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
		os.Exit(code)
	}
	c, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return // --help, which was printed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	logger.SetLogger(logger.NewLogger(c.logger))
	if err := run(ctrl.SetupSignalHandler(), c); err != nil {
		ctrl.Log.Error(err, "problem running the controller")
		os.Exit(1)
	}
}

// parse reads the flags and the environment.
func parse(args []string) (config, error) {
	c := config{
		runtimeNamespace: os.Getenv(runtimectrl.EnvRuntimeNamespace),
		sourceLocalhost:  os.Getenv(runtimectrl.EnvSourceLocalhost),
		passedEnv:        passedEnv(os.LookupEnv),
		lookupEnv:        os.LookupEnv,
	}
	fs := flag.NewFlagSet(controllerName, flag.ContinueOnError)
	fs.SetOutput(os.Stdout) // for --help; errors are returned
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
	fs.IntVar(&c.concurrentRuns, "concurrent-runs", 4, "The number of concurrent Pulumi runs.")
	fs.IntVar(&c.concurrentRunsPerNamespace, "concurrent-runs-per-namespace", 0,
		"The maximum number of concurrent Pulumi runs for the Stacks of one namespace. 0 means no limit.")
	fs.StringVar(&c.runner, "runner", runnerLocal, "Where Pulumi runs: local, as processes of the controller, or job, as a Kubernetes Job for each run.")
	fs.StringVar(&c.runnerImage, "runner-image", "",
		"The image with the controller, for --runner=job: the controller is copied from it into the pod of each run, and it is the default image of these pods. Defaults to the image of the controller's own pod.")
	fs.StringVar(&c.runnerPodSecurity, "runner-pod-security", string(psaapi.LevelRestricted),
		"The Pod Security Standard that the pods of runs must comply with, whatever spec.workspaceTemplate requests: restricted, baseline or privileged.")
	fs.StringVar(&c.runnerWorkspaceTemplate, "runner-workspace-template", "",
		"A YAML file with the fields of spec.workspaceTemplate, for --runner=job: the defaults of all Stacks. The template of a Stack is merged into them.")
	fs.IntVar(&c.httpRetry, "http-retry", 9, "The maximum number of retries when failing to fetch artifacts over HTTP.")
	fs.StringVar(&c.dataDir, "data-dir", filepath.Join(os.TempDir(), controllerName),
		"The directory for the workspaces of runs and for Pulumi's plugins. Only one controller process can use it at a time.")
	fs.StringVar(&c.pulumiDir, "pulumi-dir", "", "The directory of pulumi and its language hosts. Defaults to the directory of the pulumi on PATH.")
	fs.BoolVar(&c.acquirePlugins, "acquire-plugins", true, "Let Pulumi download provider plugins that are missing from the data directory.")
	fs.DurationVar(&c.cancelGrace, "cancel-grace", 5*time.Minute, "How long a run that is being stopped may take to finish the operations in flight.")
	fs.DurationVar(&c.gracefulShutdown, "graceful-shutdown-timeout", 10*time.Minute, "How long the controller waits for runs in flight before it exits.")

	fs.StringVar(&c.defaultServiceAccount, "default-service-account", "",
		"The service account of Stacks without spec.serviceAccountName, in the namespace of the Stack. Programs get its permissions in the cluster.")
	fs.BoolVar(&c.allowControllerRefs, "allow-controller-refs", false,
		"Let Stacks read values from the environment and the files of the controller (types Env and FS). Anyone who can write a Stack can then read all of them.")
	fs.BoolVar(&c.allowPreviewPrograms, "allow-preview-programs", true,
		"Let anyone who can annotate a Stack preview a program of their own with the Stack's inputs, instead of the program of its source.")
	fs.DurationVar(&c.requeueDependency, "requeue-dependency", 30*time.Second,
		"The interval at which to check dependencies that this controller does not watch, such as Stacks of another shard. All others are watched.")

	access.BindFlags(fs)
	gates.BindFlags(fs)
	c.client.BindFlags(fs)
	c.logger.BindFlags(fs)
	c.leaderElection.BindFlags(fs)
	c.rateLimiter.BindFlags(fs)
	c.watch.BindFlags(fs)
	c.interval.BindFlags(fs)
	return errors.Join(
		// A program is arbitrary code, so sharing across namespaces is up to the
		// administrator. Flux's own default is the opposite.
		setDefault(fs, "no-cross-namespace-refs", "true"),
		// Other controllers watch only Secrets and ConfigMaps with a label. To a Stack,
		// they are inputs like its program, and a rotated credential that is not noticed
		// is an outage.
		setDefault(fs, "watch-configs-label-selector", ""),
	)
}

// readFeatures reads the feature gates, all of which are off by default.
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

// setDefault overrides the default of a flag from a shared package.
func setDefault(fs *flag.FlagSet, name, value string) error {
	f := fs.Lookup(name)
	if f == nil {
		return fmt.Errorf("flag --%s is not defined", name)
	}
	f.DefValue = value
	return f.Value.Set(value)
}

// passedEnv is the part of the environment that Pulumi gets: access to the network, and
// nothing else.
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
	case c.concurrentRunsPerNamespace < 0:
		return fmt.Errorf("--concurrent-runs-per-namespace must not be negative, not %d", c.concurrentRunsPerNamespace)
	case c.runner != runnerLocal && c.runner != runnerJob:
		return fmt.Errorf("--runner must be %s or %s, not %q", runnerLocal, runnerJob, c.runner)
	case !slices.Contains([]psaapi.Level{psaapi.LevelRestricted, psaapi.LevelBaseline, psaapi.LevelPrivileged}, psaapi.Level(c.runnerPodSecurity)):
		return fmt.Errorf("--runner-pod-security must be restricted, baseline or privileged, not %q", c.runnerPodSecurity)
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

// watchesPart reports whether Stacks may refer to Stacks that this controller does not
// watch.
func (c config) watchesPart() bool {
	return c.watch.LabelSelector != "" || (!c.watch.AllNamespaces && !c.noCrossNamespaceRefs)
}

// warnings describe a configuration that works and is likely a mistake.
func (c config) warnings() []string {
	var warnings []string
	if c.cancelGrace >= c.gracefulShutdown && c.runner != runnerJob {
		warnings = append(warnings, fmt.Sprintf("--cancel-grace (%s) should be less than --graceful-shutdown-timeout (%s): "+
			"otherwise the controller exits before its runs have stopped, and the next controller has to recover from them", c.cancelGrace, c.gracefulShutdown))
	}
	tenants := lockdown.Flags{Runner: c.runner, DefaultServiceAccount: c.defaultServiceAccount, WatchAllNamespaces: c.watch.AllNamespaces}
	if warning := tenants.Warning(); warning != "" {
		warnings = append(warnings, warning)
	}
	return warnings
}
