// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// demo is a running one.
type demo struct {
	// examples is examples/quickstart, dir the one folder with all that is
	// written.
	examples, dir string

	screen *screen
	system *system.System
	flux   *system.FluxCLI
	git    *sources.GitServer
	repo   *sources.GitRepo
}

// run goes through the demo. An error says what failed; the end of ctx is one.
func run(ctx context.Context, out *os.File, keep bool) error {
	began := time.Now()
	root, err := process.RepoRoot()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pulumi-controller-demo-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	guard, err := startGuard(dir)
	if err != nil {
		return errors.Join(err, os.Remove(dir))
	}
	d := &demo{examples: filepath.Join(root, "examples", "quickstart"), dir: dir, screen: newScreen(out)}
	err = d.steps(ctx)
	if err == nil {
		d.screen.say("", fmt.Sprintf("That was all of it, in %s.", time.Since(began).Round(time.Second)))
		if keep {
			err = d.keep(ctx)
		}
	}
	if ctx.Err() != nil && err != nil {
		// What the interruption made fail is of no interest.
		err = context.Cause(ctx)
	}
	d.screen.say("", "Stopping all processes and removing "+dir)
	return errors.Join(err, d.stop(), guard.clean())
}

// steps is the demo from its beginning to its end.
func (d *demo) steps(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		d.start, d.fromGit, d.fromProgram, d.outputs, d.commit, d.edit, d.delete,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// keep waits for the end of ctx, which is no error here.
func (d *demo) keep(ctx context.Context) error {
	d.screen.say("",
		"KEEP=1: it is left running. In another terminal:",
		"  export KUBECONFIG="+d.system.ControlPlane.KubeconfigPath(),
		"  export FLUXCD_PLUGINS="+d.flux.Plugins,
		"  "+d.flux.Program+" pulumi get all -n "+namespace,
		"The log of the controller is "+d.system.ControllerLog(),
		"Ctrl-C here stops it and removes everything.")
	select {
	case <-ctx.Done():
		return nil
	case <-d.system.Controller.Done():
		return d.system.Controller.Wait()
	}
}

// stop ends what was started.
func (d *demo) stop() error {
	var errs []error
	if d.system != nil {
		errs = append(errs, d.system.Stop())
	}
	if d.git != nil {
		errs = append(errs, d.git.Close())
	}
	return errors.Join(errs...)
}

// The places in the folder of the demo.
func (d *demo) systemDir() string { return filepath.Join(d.dir, "system") }
func (d *demo) gitDir() string    { return filepath.Join(d.dir, "git") }
func (d *demo) stateDir() string  { return filepath.Join(d.dir, "state") }
func (d *demo) fluxDir() string   { return filepath.Join(d.dir, "flux") }
func (d *demo) cloudDir() string  { return filepath.Join(d.dir, "cloud") }

func (d *demo) cloud() *cloud.Cloud { return cloud.Open(d.cloudDir()) }
