// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// start brings the system and the git server up.
func (d *demo) start(ctx context.Context) error {
	d.screen.say("1. Starting the system",
		"A Kubernetes API server with etcd, Flux's source-controller and pulumi-controller start as processes on",
		"this machine. All they write is in "+d.dir)
	began := time.Now()
	for _, dir := range []string{d.systemDir(), d.gitDir(), d.stateDir(), d.cloudDir()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("starting the system: %w", err)
		}
	}
	var err error
	if d.git, err = sources.NewGitServer(d.gitDir()); err != nil {
		return err
	}
	if d.system, err = startSystem(ctx, d.systemDir(), d.cloudDir()); err != nil {
		return fmt.Errorf("starting the system: %w", err)
	}
	if d.flux, err = system.NewFluxCLI(d.fluxDir(), d.system.ControlPlane.KubeconfigPath()); err != nil {
		return err
	}
	d.screen.say("", fmt.Sprintf("All of it is ready after %.1fs.", time.Since(began).Seconds()))
	return nil
}

// startSystem starts a system that the end of ctx stops only while it starts.
// Later System.Stop does that: it goes in order, and it signals the controller
// once, while the end of its context would be a second signal, at which a
// controller ends without waiting for its runs.
func startSystem(ctx context.Context, dir, cloud string) (*system.System, error) {
	starting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	started := context.AfterFunc(ctx, cancel)
	s, err := system.Start(starting, system.Options{
		Dir: dir,
		// A run that is asked to stop finishes what it has started, which takes a
		// second here.
		ControllerArgs: []string{"--cancel-grace=3s", "--graceful-shutdown-timeout=8s"},
		WritePaths:     []string{cloud},
	})
	if err != nil {
		return nil, err
	}
	if !started() {
		return nil, errors.Join(context.Cause(ctx), s.Stop())
	}
	return s, nil
}
