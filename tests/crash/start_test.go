// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// start starts a controller with these flags for one test, with its own namespace on the
// API server that the tests share.
func start(t *testing.T, flags ...string) *system.System {
	t.Helper()
	return startIn(t, system.Options{Dir: tempDir(t), ControlPlane: shared}, flags...)
}

// startAlone starts one with its own API server, for a test that stops it.
func startAlone(t *testing.T, flags ...string) *system.System {
	t.Helper()
	return startIn(t, system.Options{Dir: tempDir(t)}, flags...)
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
