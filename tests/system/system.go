// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package system runs the whole system on one machine: the control plane, the real
// source-controller, this controller and the lab provider, as processes on the loopback
// address with all their files in one directory. The end-to-end tests, the demo and the
// benchmark use it, so it must not import testing. It does not know what they check.
package system

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	startTimeout = 3 * time.Minute
	// controllerGrace is how long a controller may take to stop: longer than its runs.
	controllerGrace = 5 * time.Minute
)

// Options selects what to start.
type Options struct {
	// Dir for all files. Required; it must exist and be empty.
	Dir string
	// ControllerArgs are flags that follow those of this package.
	ControllerArgs []string
	// ReadPaths and WritePaths are what programs of local runs may reach besides their own files, the programs that are
	// built here, and the directory clouds: the cloud of the lab provider is files. Only what exists can be reached.
	ReadPaths, WritePaths []string
	// ControllerEnv is added to the environment of the controller.
	ControllerEnv []string
	// PulumiDir has pulumi and its language hosts. Empty is the bin/ of this repository.
	PulumiDir string
	// WithoutSources omits source-controller, for tests that only use Programs.
	WithoutSources bool
	// ControlPlane to use, which must have the CRDs and is left running. Nil starts one
	// in Dir.
	ControlPlane *controlplane.ControlPlane
	// Namespace to create if it is missing, and the only one that the controllers watch, so
	// that systems can share a control plane. Empty watches all.
	Namespace string
	// Kubeconfig of the controller, which selects its user. Empty is a cluster admin.
	Kubeconfig string
	// WithNotifications adds notification-controller, with CRDs that know Stacks, and
	// sends it the events of the controller.
	WithNotifications bool
	// Installed runs the controller as the service account of config/default, with only
	// its rights, instead of as cluster admin. The API server logs its requests. It needs
	// a control plane of its own, and all namespaces.
	Installed bool
	// Config is the directory of this repository with the rights of an installed
	// controller. Empty is config/default.
	Config string
}

// System is a running system.
type System struct {
	// The client has no cache.
	client.WithWatch

	ControlPlane           *controlplane.ControlPlane
	SourceController       *controlplane.SourceController
	NotificationController *controlplane.NotificationController
	Controller             *process.Process

	options Options
	ctx     context.Context
	metrics string
	// notifications is the file from BuildNotifications, if requested.
	notifications string
	// kubeconfig of the controller.
	kubeconfig string

	// changing is held while processes are started or stopped.
	changing sync.Mutex
	others   []*process.Process
}

// Start returns when everything is ready. The end of ctx stops everything like Stop, in
// the same order: a controller needs the API server to record the results of its runs
// before it ends.
func Start(ctx context.Context, options Options) (*System, error) {
	starting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &System{options: options, ctx: starting}
	detach := context.AfterFunc(ctx, cancel)
	err := s.start(starting)
	if detached := detach(); err == nil && !detached {
		err = fmt.Errorf("starting the system: %w", context.Cause(ctx))
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, s.Stop())
	}
	context.AfterFunc(ctx, func() {
		_ = s.Stop()
		cancel()
	})
	return s, nil
}

func (s *System) start(ctx context.Context) error {
	for _, dir := range []string{"controlplane", "sources", "flux-system", "notifications", "tmp", "clouds"} {
		if err := os.Mkdir(s.Path(dir), 0o755); err != nil {
			return fmt.Errorf("making room for the system: %w", err)
		}
	}
	if err := s.startControlPlane(ctx); err != nil {
		return err
	}
	if !s.options.WithoutSources {
		var err error
		s.SourceController, err = controlplane.StartSourceController(ctx, s.ControlPlane,
			controlplane.SourceControllerOptions{Dir: s.Path("sources"), LogDir: s.options.Dir})
		if err != nil {
			return err
		}
	}
	if s.options.WithNotifications {
		if err := s.startNotifications(ctx); err != nil {
			return err
		}
	}
	if s.options.Installed {
		if err := s.install(ctx); err != nil {
			return fmt.Errorf("giving the controller its rights: %w", err)
		}
	}
	if err := installPlugins(s.DataDir()); err != nil {
		return err
	}
	return s.StartController()
}

// startControlPlane starts a control plane, or uses the given one, and creates a client.
func (s *System) startControlPlane(ctx context.Context) (err error) {
	if s.ControlPlane = s.options.ControlPlane; s.ControlPlane == nil {
		crds, err := controlplane.ProjectCRDs()
		if err != nil {
			return err
		}
		if s.options.WithNotifications {
			if s.notifications, err = controlplane.BuildNotifications(ctx, s.Path("flux-system"), controlplane.Flux29, controlplane.Flux29); err != nil {
				return err
			}
			crds = append(crds, s.notifications)
		}
		s.ControlPlane, err = controlplane.Start(ctx, controlplane.Options{
			Dir: s.Path("controlplane"), LogDir: s.options.Dir, CRDPaths: crds, AuditUsers: s.audited(),
		})
		if err != nil {
			return err
		}
	}
	if s.kubeconfig = s.options.Kubeconfig; s.kubeconfig == "" {
		s.kubeconfig = s.ControlPlane.KubeconfigPath()
	}
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	if s.WithWatch, err = client.NewWithWatch(s.ControlPlane.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making a client of the API server: %w", err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.RuntimeNamespace()}}
	if err := s.Create(ctx, namespace); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making the namespace of the controllers: %w", err)
	}
	return nil
}

// Scheme has the types that the tests use.
func Scheme() (*apiruntime.Scheme, error) {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{clientgoscheme.AddToScheme, sourcev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("making the scheme: %w", err)
		}
	}
	return scheme, nil
}

// StartController starts the controller, or restarts it after its end. More flags follow
// those of the options.
func (s *System) StartController(more ...string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	var err error
	s.Controller, s.metrics, err = s.startController(s.DataDir(), s.ControllerLog(), nil, more...)
	return err
}

// StartAnother starts another controller, with its own data directory. It is stopped with
// the system.
func (s *System) StartAnother() (*process.Process, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	name := fmt.Sprintf("another-%d", len(s.others)+1)
	if err := installPlugins(s.Path(name)); err != nil {
		return nil, err
	}
	another, _, err := s.startController(s.Path(name), s.Path(name+".log"), nil)
	if another != nil {
		s.others = append(s.others, another)
	}
	return another, err
}

// startController also returns the process with an error if it has started but is not
// ready. The command by starts it, if there is one.
func (s *System) startController(dataDir, log string, by []string, more ...string) (controller *process.Process, metrics string, err error) {
	path, err := process.FindBin("pulumi-controller")
	if err != nil {
		return nil, "", err
	}
	pulumiDir := s.options.PulumiDir
	if pulumiDir == "" {
		pulumiDir = filepath.Dir(path)
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		return nil, "", fmt.Errorf("starting the controller: %w", err)
	}
	sandboxed, err := s.sandboxArgs()
	if err != nil {
		return nil, "", err
	}
	health, metrics := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	command := append(by,
		path, "--data-dir="+dataDir, "--pulumi-dir="+pulumiDir, "--acquire-plugins=false",
		"--health-addr="+health, "--metrics-addr="+metrics, "--http-retry=1",
		fmt.Sprintf("--watch-all-namespaces=%t", s.options.Namespace == ""),
	)
	controller, err = process.Start(context.WithoutCancel(s.ctx), process.Spec{
		Name: "pulumi-controller",
		Path: command[0],
		Args: slices.Concat(command[1:], sandboxed, s.eventArgs(), s.options.ControllerArgs, more),
		Env: append([]string{
			"KUBECONFIG=" + s.kubeconfig, "RUNTIME_NAMESPACE=" + s.RuntimeNamespace(),
			"PATH=/usr/bin:/bin", "HOME=" + s.options.Dir, "TMPDIR=" + s.Path("tmp"),
		}, s.options.ControllerEnv...),
		Dir:   s.options.Dir,
		Log:   log,
		Grace: controllerGrace,
	})
	if err != nil {
		return nil, "", err
	}
	// Readiness may come before the metrics endpoint is up.
	client := &http.Client{Timeout: 5 * time.Second}
	for _, url := range []string{"http://" + health + "/readyz", "http://" + metrics + "/metrics"} {
		if err := controller.Await(s.ctx, startTimeout, process.HTTPProbe(client, url)); err != nil {
			return controller, metrics, err
		}
	}
	return controller, metrics, nil
}

// eventArgs makes the controller send its events to notification-controller, if there is
// one.
func (s *System) eventArgs() []string {
	if s.NotificationController == nil {
		return nil
	}
	return []string{"--events-addr=" + s.NotificationController.EventsURL()}
}

// Stop ends all processes, the controllers first. It keeps Dir, and may be called twice.
func (s *System) Stop() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	var errs []error
	for _, controller := range append(s.others, s.Controller) {
		if controller != nil {
			errs = append(errs, controller.Stop())
		}
	}
	if s.SourceController != nil {
		errs = append(errs, s.SourceController.Stop())
	}
	if s.NotificationController != nil {
		errs = append(errs, s.NotificationController.Stop())
	}
	if s.ControlPlane != nil && s.options.ControlPlane == nil {
		errs = append(errs, s.ControlPlane.Stop())
	}
	return errors.Join(errs...)
}

// Path returns a path in the directory of the system.
func (s *System) Path(elements ...string) string {
	return filepath.Join(append([]string{s.options.Dir}, elements...)...)
}

// RuntimeNamespace is the namespace of the lease and the pods of the controllers.
func (s *System) RuntimeNamespace() string {
	if s.options.Namespace == "" {
		return "flux-system"
	}
	return s.options.Namespace
}

// DataDir is the --data-dir of the controller.
func (s *System) DataDir() string { return s.Path("data") }

// ControllerLog is the log file of the controller.
func (s *System) ControllerLog() string { return s.Path("pulumi-controller.log") }

// MetricsURL is the metrics endpoint of the controller.
func (s *System) MetricsURL() string { return "http://" + s.metrics + "/metrics" }
