// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	runtimeclient "github.com/fluxcd/pkg/runtime/client"
	runtimectrl "github.com/fluxcd/pkg/runtime/controller"
	"github.com/fluxcd/pkg/runtime/jitter"
	"github.com/fluxcd/pkg/runtime/leaderelection"
	"github.com/fluxcd/pkg/runtime/logger"
	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"
	psaapi "k8s.io/pod-security-admission/api"

	"github.com/flux-pulumi/pulumi-controller/internal/lockdown"
)

// Name is the name of the controller in events, metrics and leases.
const Name = "pulumi-controller"

// The values of --runner.
const (
	LocalRunner = lockdown.LocalRunner
	JobRunner   = "job"
)

// Config is all that can be configured.
type Config struct {
	MetricsAddr string
	EventsAddr  string
	HealthAddr  string

	Concurrent     int
	ConcurrentRuns int
	HTTPRetry      int

	ConcurrentRunsPerNamespace int
	ConcurrentDriftChecks      int
	Runner                     string
	RunnerImage                string
	RunnerImages               map[string]string
	RunnerPodSecurity          string
	RunnerWorkspaceTemplate    string

	DataDir        string
	PulumiDir      string
	AcquirePlugins bool
	// Sandbox is one of the modes of package lockdown.
	Sandbox                             string
	SandboxReadPaths, SandboxWritePaths []string
	// DependencyCacheSize bounds the snapshots of the dependencies of programs, in bytes.
	DependencyCacheSize  resource.QuantityValue
	CancelGrace          time.Duration
	GracefulShutdown     time.Duration
	NoCrossNamespaceRefs bool
	AllowControllerRefs  bool
	AllowPreviewPrograms bool

	DefaultServiceAccount      string
	AdditiveCELDependencyCheck bool
	// ObjectLevelWorkloadIdentity is the feature gate of that name.
	ObjectLevelWorkloadIdentity bool
	RequeueDependency           time.Duration
	DisableConfigWatchers       bool

	Client         runtimeclient.Options
	Logger         logger.Options
	LeaderElection leaderelection.Options
	RateLimiter    runtimectrl.RateLimiterOptions
	Watch          runtimectrl.WatchOptions
	Interval       jitter.IntervalOptions

	// RuntimeNamespace is the namespace of this process, and SourceLocalhost the host to
	// fetch artifacts from in place of source-controller's own.
	RuntimeNamespace string
	SourceLocalhost  string
	// PassedEnv is the part of the environment that Pulumi gets.
	PassedEnv map[string]string
	// LookPath finds a program, and Cluster the API server.
	LookPath func(name string) (string, error)
	Cluster  func() (*rest.Config, error)
	// LookupEnv reads the environment for Stacks, with --allow-controller-refs.
	LookupEnv func(name string) (string, bool)
}

// Validate names the flag that is at fault.
func (c Config) Validate() error {
	switch {
	case c.Concurrent < 1:
		return fmt.Errorf("--concurrent must be at least 1, not %d", c.Concurrent)
	case c.ConcurrentRuns < 1:
		return fmt.Errorf("--concurrent-runs must be at least 1, not %d", c.ConcurrentRuns)
	case c.ConcurrentRunsPerNamespace < 0:
		return fmt.Errorf("--concurrent-runs-per-namespace must not be negative, not %d", c.ConcurrentRunsPerNamespace)
	case c.ConcurrentDriftChecks < 1:
		return fmt.Errorf("--concurrent-drift-checks must be at least 1, not %d", c.ConcurrentDriftChecks)
	case c.Runner != LocalRunner && c.Runner != JobRunner:
		return fmt.Errorf("--runner must be %s or %s, not %q", LocalRunner, JobRunner, c.Runner)
	case !slices.Contains([]psaapi.Level{psaapi.LevelRestricted, psaapi.LevelBaseline, psaapi.LevelPrivileged}, psaapi.Level(c.RunnerPodSecurity)):
		return fmt.Errorf("--runner-pod-security must be restricted, baseline or privileged, not %q", c.RunnerPodSecurity)
	case c.DependencyCacheSize.Sign() < 0:
		return fmt.Errorf("--dependency-cache-size must not be negative, not %s", c.DependencyCacheSize.String())
	case c.HTTPRetry < 0:
		return fmt.Errorf("--http-retry must not be negative, not %d", c.HTTPRetry)
	case c.RequeueDependency <= 0:
		return fmt.Errorf("--requeue-dependency must be positive, not %s", c.RequeueDependency)
	case c.Interval.Percentage >= 100:
		return fmt.Errorf("--interval-jitter-percentage must be less than 100, not %d", c.Interval.Percentage)
	case !c.Watch.AllNamespaces && c.RuntimeNamespace == "":
		return fmt.Errorf("--watch-all-namespaces=false needs the environment variable %s", runtimectrl.EnvRuntimeNamespace)
	}
	return errors.Join(c.validateSandbox(), c.validateImages())
}

// validateImages refuses what Kubernetes would only refuse in the pod of a run.
func (c Config) validateImages() error {
	for _, runtime := range slices.Sorted(maps.Keys(c.RunnerImages)) {
		if runtime == "" {
			return errors.New("--runner-images needs the name of a runtime before each image, as in nodejs=pulumi/pulumi-nodejs:3.259.0")
		}
		if _, err := name.ParseReference(c.RunnerImages[runtime]); err != nil {
			return fmt.Errorf("--runner-images: the image for %s is invalid: %w", runtime, err)
		}
	}
	return nil
}

// watchesPart reports whether Stacks may refer to Stacks that this controller does not
// watch.
func (c Config) watchesPart() bool {
	return c.Watch.LabelSelector != "" || (!c.Watch.AllNamespaces && !c.NoCrossNamespaceRefs)
}

// LongestShutdown is how long Run may take to return when it is told to stop.
func (c Config) LongestShutdown() time.Duration {
	return c.GracefulShutdown + managerStop + lastWrites + lastEvents
}

// Warnings describe a configuration that works and is likely a mistake.
func (c Config) Warnings() []string {
	var warnings []string
	if c.CancelGrace >= c.GracefulShutdown && c.Runner != JobRunner {
		warnings = append(warnings, fmt.Sprintf("--cancel-grace (%s) should be less than --graceful-shutdown-timeout (%s): "+
			"otherwise the controller exits before its runs have stopped, and the next controller has to recover from them", c.CancelGrace, c.GracefulShutdown))
	}
	tenants := lockdown.Flags{Runner: c.Runner, DefaultServiceAccount: c.DefaultServiceAccount, WatchAllNamespaces: c.Watch.AllNamespaces}
	if warning := tenants.Warning(); warning != "" {
		warnings = append(warnings, warning)
	}
	for _, runtime := range slices.Sorted(maps.Keys(c.RunnerImages)) {
		if !slices.Contains(runtimeNames(), runtime) {
			warnings = append(warnings, fmt.Sprintf("--runner-images has an image for the runtime %q, which is none of Pulumi's own (%s): "+
				"it is only used for a Pulumi.yaml that names this runtime", runtime, strings.Join(runtimeNames(), ", ")))
		}
	}
	return warnings
}

// runtimeNames are the runtimes for which Pulumi has a language host.
func runtimeNames() []string {
	return []string{"bun", "dotnet", "go", "java", "nodejs", "python", "yaml"}
}

// watchedNamespace is the only namespace that is watched, "" for all.
func (c Config) watchedNamespace() string {
	if c.Watch.AllNamespaces {
		return ""
	}
	return c.RuntimeNamespace
}

// part tells the controllers of shards apart, in the value of a label.
func (c Config) part() string {
	if c.Watch.LabelSelector == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.Watch.LabelSelector))
	return hex.EncodeToString(sum[:8])
}
