// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the whole system as a user sees it: real Flux sources, the real source-controller, the real
// Pulumi, and this controller's binary as a process. A test acts on the API server and on the sources, and looks at
// objects, events, the cloud of the lab provider and the files of the backend. It must not import anything from
// internal/.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
	"github.com/flux-pulumi/pulumi-controller/tests/rights"
	"github.com/flux-pulumi/pulumi-controller/tests/sources"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// parallelTests is the number of tests that run in parallel. They mostly wait, so it exceeds the number of
// processors.
const parallelTests = 6

// shared is the system of all tests that do not stop its controller. It is the only variable of the package: TestMain
// has no other way to pass it on.
var shared *world

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the client's logger, which complains if it is not set
	if err := parallel.Tests(parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// runTests starts the shared system, runs the tests and cleans up.
func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "pulumi-controller-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shared, err = newWorld(ctx, dir, system.Options{
		WithNotifications: true, Installed: true,
		// Tests that hold runs must not take all slots from the tests beside them.
		ControllerArgs: []string{"--enable-leader-election", "--concurrent-runs=12"},
		// Older API servers do not stream lists, so the controller lists, which takes another permission. Controllers
		// of other worlds use streaming.
		ControllerEnv: []string{"KUBE_FEATURE_WatchListClient=false"},
	})
	if err != nil {
		return 1, err
	}
	shared.own, shared.fluxOperator = &ownCluster{}, &lazyFluxOperator{}
	defer func() { err = errors.Join(err, shared.fluxOperator.stop(), shared.own.stop(), shared.Stop()) }()
	if err := shared.startSources(ctx); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.stopSources()) }()
	return m.Run(), shared.allowed()
}

// allowed returns an error for requests of the controller that its roles do not allow, whichever test caused them.
func (w *world) allowed() error {
	requests, err := w.ControlPlane.Requests(system.ControllerUser)
	if err != nil {
		return err
	}
	if lacking := rights.Forbidden(requests); len(lacking) > 0 {
		return fmt.Errorf("the controller asked for what config/rbac does not allow it: %s", strings.Join(lacking, ", "))
	}
	return nil
}

// startSources starts the servers that sources pull from.
func (w *world) startSources(ctx context.Context) (err error) {
	for _, name := range []string{"git", "s3"} {
		if err := os.Mkdir(filepath.Join(w.dir, name), 0o755); err != nil {
			return err
		}
	}
	if w.gitServer, err = sources.NewGitServer(filepath.Join(w.dir, "git")); err != nil {
		return err
	}
	if w.registry, err = sources.NewOCIRegistry(); err != nil {
		return err
	}
	w.s3, err = sources.NewS3Server(ctx, filepath.Join(w.dir, "s3"))
	return err
}

func (w *world) stopSources() error {
	return errors.Join(w.gitServer.Close(), w.registry.Close(), w.s3.Close())
}
