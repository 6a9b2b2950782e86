// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/failure"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// start starts a controller with these flags for one test, with its own namespace on the
// API server that the tests share.
func start(t *testing.T, flags ...string) *system.System {
	t.Helper()
	return startIn(t, system.Options{Dir: tempDir(t), ControlPlane: shared}, flags...)
}

// startAlone starts one with an API server that no other test uses meanwhile, for a test that stops it or replaces its
// CRDs, and that leaves it as it was.
func startAlone(t *testing.T, flags ...string) *system.System {
	t.Helper()
	return startIn(t, system.Options{Dir: tempDir(t), ControlPlane: alone.take(t)}, flags...)
}

// exclusive is a control plane that one test uses at a time. The first one starts it.
type exclusive struct {
	taken sync.Mutex
	dir   string
	plane *controlplane.ControlPlane
}

// take waits for the tests that have the control plane. After a test that fails, the next one gets a new one.
func (e *exclusive) take(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	e.taken.Lock()
	t.Cleanup(func() {
		defer e.taken.Unlock()
		if !t.Failed() {
			return
		}
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	})
	if e.plane == nil {
		if err := e.start(); err != nil {
			t.Fatal(err)
		}
	}
	return e.plane
}

func (e *exclusive) start() (err error) {
	if e.dir, err = os.MkdirTemp("", "crash-alone-"); err != nil {
		return err
	}
	e.plane, err = startPlane(e.dir)
	return err
}

// stop ends the control plane, if there is one.
func (e *exclusive) stop() error {
	if e.plane == nil {
		return os.RemoveAll(e.dir)
	}
	err := errors.Join(e.plane.Stop(), os.RemoveAll(e.dir))
	e.plane = nil
	return err
}

// startPlane starts a control plane with the CRDs in the directory.
func startPlane(dir string) (*controlplane.ControlPlane, error) {
	crds, err := controlplane.ProjectCRDs()
	if err != nil {
		return nil, err
	}
	return controlplane.Start(context.Background(), controlplane.Options{Dir: dir, CRDPaths: crds})
}

func startIn(t *testing.T, options system.Options, flags ...string) *system.System {
	t.Helper()
	options.WithoutSources, options.PulumiDir = true, pulumiDir
	options.Namespace = filepath.Base(options.Dir)
	options.ControllerArgs = append([]string{"--graceful-shutdown-timeout=30s", "--cancel-grace=10s"}, flags...)
	ctx, cancel := context.WithCancel(context.Background())
	s, err := system.Start(ctx, options)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		cancel()
	})
	failure.Report(t, s, options.Namespace, failure.LogFile(s.ControllerLog()))
	return s
}

// tempDir creates a directory that is kept after a failure, with all logs in it.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "crash-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what is left is in %s", dir)
			return
		}
		_ = os.RemoveAll(dir) // it is a temporary directory anyway
	})
	return dir
}
