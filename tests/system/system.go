// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package system puts the whole of it together on one machine: the control
// plane, the real source-controller, this controller and the lab provider, as
// processes on the loopback address with all they write in one directory. The
// end-to-end tests, the demo and the benchmark use it, so it must not import
// testing, and it knows nothing of what they check.
package system

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	startTimeout = 60 * time.Second
	// labPlugin is where Pulumi looks for the lab provider among its plugins.
	labPlugin = "resource-lab-v0.1.0"
)

// Options says what to start.
type Options struct {
	// Dir is where everything is kept. Required; it must exist and be empty.
	Dir string
	// ControllerArgs are flags added after those that this package sets.
	ControllerArgs []string
	// PulumiDir has pulumi and its language hosts. Empty means the bin/ of this
	// repository.
	PulumiDir string
	// WithoutSources leaves source-controller out, for what uses Programs only.
	WithoutSources bool
}

// System is a running system.
type System struct {
	// Client reads and writes the API server, without a cache.
	client.WithWatch

	ControlPlane     *controlplane.ControlPlane
	SourceController *controlplane.SourceController
	Controller       *process.Process

	options Options
	ctx     context.Context
	health  string
	metrics string
}

// Start returns when all of it is ready. The end of ctx stops everything, as
// Stop does.
func Start(ctx context.Context, options Options) (*System, error) {
	s := &System{options: options, ctx: ctx}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *System) start(ctx context.Context) error {
	crds, err := controlplane.ProjectCRDs()
	if err != nil {
		return err
	}
	for _, dir := range []string{"controlplane", "sources", "tmp"} {
		if err := os.Mkdir(s.Path(dir), 0o755); err != nil {
			return fmt.Errorf("making room for the system: %w", err)
		}
	}
	s.ControlPlane, err = controlplane.Start(ctx, controlplane.Options{Dir: s.Path("controlplane"), LogDir: s.options.Dir, CRDPaths: crds})
	if err != nil {
		return err
	}
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	if s.WithWatch, err = client.NewWithWatch(s.ControlPlane.RESTConfig(), client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("making a client of the API server: %w", err)
	}
	if !s.options.WithoutSources {
		s.SourceController, err = controlplane.StartSourceController(ctx, s.ControlPlane,
			controlplane.SourceControllerOptions{Dir: s.Path("sources"), LogDir: s.options.Dir})
		if err != nil {
			return err
		}
	}
	if err := s.installLab(); err != nil {
		return err
	}
	return s.StartController()
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

// installLab puts the lab provider among the plugins of the controller, as an
// administrator would: on PATH Pulumi would warn of it with each diagnostic.
func (s *System) installLab() error {
	lab, err := process.FindBin(filepath.Join("lab", "pulumi-resource-lab"))
	if err != nil {
		return err
	}
	dir := filepath.Join(s.DataDir(), "plugins", labPlugin)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("installing the lab provider: %w", err)
	}
	if err := os.Symlink(lab, filepath.Join(dir, "pulumi-resource-lab")); err != nil {
		return fmt.Errorf("installing the lab provider: %w", err)
	}
	return nil
}

// StartController starts the controller, also again after its end.
func (s *System) StartController() error {
	path, err := process.FindBin("pulumi-controller")
	if err != nil {
		return err
	}
	pulumiDir := s.options.PulumiDir
	if pulumiDir == "" {
		pulumiDir = filepath.Dir(path)
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		return fmt.Errorf("starting the controller: %w", err)
	}
	s.health, s.metrics = fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	s.Controller, err = process.Start(s.ctx, process.Spec{
		Name: "pulumi-controller",
		Path: path,
		Args: append([]string{
			"--data-dir=" + s.DataDir(), "--pulumi-dir=" + pulumiDir, "--acquire-plugins=false",
			"--health-addr=" + s.health, "--metrics-addr=" + s.metrics, "--http-retry=1",
		}, s.options.ControllerArgs...),
		Env: []string{
			"KUBECONFIG=" + s.ControlPlane.KubeconfigPath(), "RUNTIME_NAMESPACE=flux-system",
			"PATH=/usr/bin:/bin", "HOME=" + s.options.Dir, "TMPDIR=" + s.Path("tmp"),
		},
		Dir: s.options.Dir,
		Log: s.ControllerLog(),
	})
	if err != nil {
		return err
	}
	probe := process.HTTPProbe(&http.Client{Timeout: 5 * time.Second}, "http://"+s.health+"/readyz")
	return s.Controller.Await(s.ctx, startTimeout, probe)
}

// Stop ends all processes, the controller first. What is in Dir stays.
func (s *System) Stop() error {
	var errs []error
	if s.Controller != nil {
		errs = append(errs, s.Controller.Stop())
	}
	if s.SourceController != nil {
		errs = append(errs, s.SourceController.Stop())
	}
	if s.ControlPlane != nil {
		errs = append(errs, s.ControlPlane.Stop())
	}
	return errors.Join(errs...)
}

// Path returns a path in the directory of the system.
func (s *System) Path(elements ...string) string {
	return filepath.Join(append([]string{s.options.Dir}, elements...)...)
}

// DataDir is the controller's --data-dir.
func (s *System) DataDir() string { return s.Path("data") }

// ControllerLog is the file with the controller's log.
func (s *System) ControllerLog() string { return s.Path("pulumi-controller.log") }

// MetricsURL is where the controller serves its metrics.
func (s *System) MetricsURL() string { return "http://" + s.metrics + "/metrics" }
