// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"os"
	"testing"

	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// start starts a system with these flags of the controller, for one test.
func start(t *testing.T, flags ...string) *system.System {
	t.Helper()
	return startIn(t, tempDir(t), flags...)
}

// startIn starts it in a directory of the test's own.
func startIn(t *testing.T, dir string, flags ...string) *system.System {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := system.Start(ctx, system.Options{
		Dir: dir, WithoutSources: true,
		ControllerArgs: append([]string{"--graceful-shutdown-timeout=30s", "--cancel-grace=10s"}, flags...),
	})
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

// tempDir makes a directory that stays after a failure, with all logs in it.
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
		_ = os.RemoveAll(dir) // it is in the temporary directory
	})
	return dir
}
