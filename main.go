// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Command pulumi-controller is the Flux controller for Pulumi: it keeps the
// infrastructure of Stacks in line with their programs.
//
// This file turns flags and the environment into a config and runs it. It is the only
// place that reads either, and the only one that may exit.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/runtime/acl"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/features"
	"github.com/fluxcd/pkg/runtime/logger"
	flag "github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	psaapi "k8s.io/pod-security-admission/api"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/internal/app"
	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/analyzer"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

func main() {
	if analyzer.IsAnalyzer(os.Args[0]) {
		os.Exit(runAnalyzer())
	}
	if len(os.Args) > 1 && os.Args[1] == app.RunnerCommand {
		os.Exit(runPod(os.Args[2:]))
	}
	c, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return // --help, which was printed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	logger.SetLogger(logger.NewLogger(c.Logger))
	if err := app.Run(ctrl.SetupSignalHandler(), c); err != nil {
		ctrl.Log.Error(err, "problem running the controller")
		os.Exit(1)
	}
}

// parse reads the flags and the environment.
func parse(args []string) (app.Config, error) {
	c := app.Config{
		RuntimeNamespace: os.Getenv(runtimectrl.EnvRuntimeNamespace),
		SourceLocalhost:  os.Getenv(runtimectrl.EnvSourceLocalhost),
		PassedEnv:        passedEnv(os.LookupEnv),
		LookupEnv:        os.LookupEnv,
		LookPath:         exec.LookPath,
		Cluster:          ctrl.GetConfig,
	}
	fs := flag.NewFlagSet(app.Name, flag.ContinueOnError)
	fs.SetOutput(os.Stdout) // for --help; errors are returned
	var access acl.Options
	var gates features.FeatureGates
	if err := bindFlags(fs, &c, &access, &gates); err != nil {
		return c, err
	}
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if err := readFeatures(&c, &gates); err != nil {
		return c, fmt.Errorf("--feature-gates: %w", err)
	}
	c.NoCrossNamespaceRefs = access.NoCrossNamespaceRefs
	return c, c.Validate()
}

// bindFlags defines the flags. docs/flags.md lists them.
func bindFlags(fs *flag.FlagSet, c *app.Config, access *acl.Options, gates *features.FeatureGates) error {
	fs.StringVar(&c.MetricsAddr, "metrics-addr", ":8080", "The address the metric endpoint binds to.")
	fs.StringVar(&c.EventsAddr, "events-addr", "", "The address of the events receiver.")
	fs.StringVar(&c.HealthAddr, "health-addr", ":9440", "The address the health endpoint binds to.")
	fs.IntVar(&c.Concurrent, "concurrent", 4, "The number of concurrent Stack reconciles. A reconcile does not wait for a run.")
	fs.IntVar(&c.ConcurrentRuns, "concurrent-runs", 4, "The number of concurrent Pulumi runs.")
	fs.IntVar(&c.ConcurrentRunsPerNamespace, "concurrent-runs-per-namespace", 0,
		"The maximum number of concurrent Pulumi runs for the Stacks of one namespace. 0 means no limit.")
	fs.IntVar(&c.ConcurrentDriftChecks, "concurrent-drift-checks", 2, "The number of concurrent checks for drift and of policies, apart from other Pulumi runs.")
	fs.StringVar(&c.Runner, "runner", app.LocalRunner, "Where Pulumi runs: local, as processes of the controller, or job, as a Kubernetes Job for each run.")
	fs.StringVar(&c.RunnerImage, "runner-image", "",
		"The image with the controller, for --runner=job: the controller is copied from it into the pod of each run, and it is the default image of these pods. Defaults to the image of the controller's own pod.")
	fs.StringToStringVar(&c.RunnerImages, "runner-images", nil,
		"The images of the pods of runs by the runtime of their program, for --runner=job, such as nodejs=IMAGE,python=IMAGE. Other programs run in --runner-image, and the image in spec.workspaceTemplate of a Stack takes precedence.")
	fs.StringVar(&c.RunnerPodSecurity, "runner-pod-security", string(psaapi.LevelRestricted),
		"The Pod Security Standard that the pods of runs must comply with, whatever spec.workspaceTemplate requests: restricted, baseline or privileged.")
	fs.StringVar(&c.RunnerWorkspaceTemplate, "runner-workspace-template", "",
		"A YAML file with the fields of spec.workspaceTemplate, for --runner=job: the defaults of all Stacks. The template of a Stack is merged into them.")
	fs.IntVar(&c.HTTPRetry, "http-retry", 9, "The maximum number of retries when failing to fetch artifacts over HTTP.")
	fs.StringVar(&c.DataDir, "data-dir", filepath.Join(os.TempDir(), app.Name),
		"The directory for the workspaces of runs and for Pulumi's plugins. Only one controller process can use it at a time.")
	fs.StringVar(&c.PulumiDir, "pulumi-dir", "", "The directory of pulumi and its language hosts. Defaults to the directory of the pulumi on PATH.")
	fs.StringVar(&c.Sandbox, "sandbox", lockdown.SandboxAuto,
		"Whether local runs are restricted by Landlock: auto, where the kernel can, required, or the controller does not start, or off.")
	fs.StringSliceVar(&c.SandboxReadPaths, "sandbox-read-paths", nil, "More paths that programs in the sandbox may read and execute.")
	fs.StringSliceVar(&c.SandboxWritePaths, "sandbox-write-paths", nil, "More paths that programs in the sandbox may read, execute and write.")
	fs.BoolVar(&c.AcquirePlugins, "acquire-plugins", true, "Let Pulumi download provider plugins that are missing from the data directory.")
	c.DependencyCacheSize = resource.QuantityValue{Quantity: resource.MustParse("2Gi")}
	fs.Var(&c.DependencyCacheSize, "dependency-cache-size",
		"How much of the data directory, or of each volume for them with --runner=job, the dependencies of programs may take that are kept for their next run. 0 keeps none.")
	fs.DurationVar(&c.CancelGrace, "cancel-grace", 5*time.Minute, "How long a run that is being stopped may take to finish the operations in flight.")
	fs.DurationVar(&c.GracefulShutdown, "graceful-shutdown-timeout", 10*time.Minute, "How long the controller waits for runs in flight before it exits.")

	fs.StringVar(&c.DefaultServiceAccount, "default-service-account", "",
		"The service account of Stacks without spec.serviceAccountName, in the namespace of the Stack. Programs get its permissions in the cluster.")
	fs.BoolVar(&c.AllowControllerRefs, "allow-controller-refs", false,
		"Let Stacks read values from the environment and the files of the controller (types Env and FS). Anyone who can write a Stack can then read all of them.")
	fs.BoolVar(&c.AllowPreviewPrograms, "allow-preview-programs", true,
		"Let anyone who can annotate a Stack preview a program of their own with the Stack's inputs, instead of the program of its source.")
	fs.DurationVar(&c.RequeueDependency, "requeue-dependency", 30*time.Second,
		"The interval at which to check dependencies that this controller does not watch, such as Stacks of another shard. All others are watched.")

	access.BindFlags(fs)
	gates.BindFlags(fs)
	c.Client.BindFlags(fs)
	c.Logger.BindFlags(fs)
	c.LeaderElection.BindFlags(fs)
	c.RateLimiter.BindFlags(fs)
	c.Watch.BindFlags(fs)
	fs.Lookup("watch-label-selector").Usage = "The label selector of the Stacks of this controller, for example 'sharding.fluxcd.io/key=shard1'. A controller with one has a lease of its own."
	c.Interval.BindFlags(fs)
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

// featureGateObjectLevelWorkloadIdentity is the gate of the same name in Flux's controllers.
const featureGateObjectLevelWorkloadIdentity = "ObjectLevelWorkloadIdentity"

// readFeatures reads the feature gates, all of which are off by default.
func readFeatures(c *app.Config, gates *features.FeatureGates) error {
	fields := map[string]*bool{
		runtimectrl.FeatureGateAdditiveCELDependencyCheck: &c.AdditiveCELDependencyCheck,
		runtimectrl.FeatureGateDisableConfigWatchers:      &c.DisableConfigWatchers,
		featureGateObjectLevelWorkloadIdentity:            &c.ObjectLevelWorkloadIdentity,
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
		"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", // a mirror of the platform
	} {
		if value, ok := lookup(name); ok {
			passed[name] = value
		}
	}
	return passed
}

// runAnalyzer is a policy pack of a run, which Pulumi has started, and returns the exit code.
func runAnalyzer() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := analyzer.Run(ctx, os.Args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// runPod does what the pod of a run is for, and returns the exit code.
func runPod(args []string) int {
	c, err := parsePod(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	code, err := app.RunPod(c)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	return code
}

// parsePod reads the arguments after app.RunnerCommand, and the environment.
func parsePod(args []string) (app.PodConfig, error) {
	c := app.PodConfig{
		APIHost: os.Getenv("KUBERNETES_SERVICE_HOST"), APIPort: os.Getenv("KUBERNETES_SERVICE_PORT"),
		Self:    exchange.Claim{Pod: os.Getenv("POD_NAME"), UID: os.Getenv("POD_UID"), At: time.Now().UTC().Truncate(time.Second)},
		Environ: os.Environ(),
	}
	fs := flag.NewFlagSet(app.Name+" "+app.RunnerCommand, flag.ContinueOnError)
	fs.SetOutput(os.Stdout)
	fs.StringVar(&c.CopyTo, "copy-to", "", "Copy this program into the directory, and do nothing else.")
	fs.StringVar(&c.Namespace, "namespace", "", "The namespace of the run.")
	fs.StringVar(&c.NamespaceUID, "namespace-uid", "", "The UID of the namespace of the run, for snapshots of dependencies.")
	fs.StringVar(&c.Secret, "secret", "", "The Secret of the run.")
	fs.StringVar(&c.RunDigest, "run-digest", "", "The digest that the run has to have.")
	fs.StringVar(&c.WorkDir, "work-dir", "", "The directory that the run is done in.")
	fs.StringVar(&c.PluginsDir, "plugins-dir", "", "A directory with plugins of Pulumi, if it is there.")
	fs.StringVar(&c.DependenciesDir, "dependencies-dir", "", "A directory with snapshots of dependencies.")
	fs.StringVar(&c.Keeper, "keeper", "", "The socket of the container that keeps dependencies.")
	fs.StringVar(&c.Keep, "keep", "", "Keep the dependencies of the run that connects to this socket, and do nothing else.")
	fs.IntVar(&c.Snapshots, "snapshots", 1, "How many snapshots of dependencies the run may keep: that of its program, and those of its policy packs.")
	fs.Int64Var(&c.DependencyCacheSize, "dependency-cache-size", 0, "How many bytes the snapshots of dependencies may take.")
	fs.StringVar(&c.AccountDir, "account-dir", "", "The directory with the token of the pod's account.")
	fs.StringVar(&c.IdentityDir, "identity-dir", "", "The directory with the tokens of the pod's account for clouds.")
	fs.DurationVar(&c.CancelGrace, "cancel-grace", 5*time.Minute, "How long a run that is being stopped may take to finish the operations in flight.")
	fs.IntVar(&c.HTTPRetry, "http-retry", 9, "The maximum number of retries when failing to fetch artifacts over HTTP.")
	fs.BoolVar(&c.AcquirePlugins, "acquire-plugins", true, "Let Pulumi download provider plugins that are not there.")
	c.Log.BindFlags(fs)
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	if c.CopyTo != "" || c.Keep != "" {
		return c, nil
	}
	for name, value := range map[string]string{
		"--namespace": c.Namespace, "--secret": c.Secret, "--run-digest": c.RunDigest, "--work-dir": c.WorkDir, "--account-dir": c.AccountDir,
		"KUBERNETES_SERVICE_HOST": c.APIHost, "KUBERNETES_SERVICE_PORT": c.APIPort, "POD_UID": c.Self.UID,
	} {
		if value == "" {
			return c, fmt.Errorf("%s is not set: this command is for the pods of runs, which the controller makes", name)
		}
	}
	return c, nil
}
