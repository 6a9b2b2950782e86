// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/tests/controlplane"
	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
	"github.com/flux-pulumi/pulumi-controller/tests/system"
)

// parallelTests is the number of tests at a time, of which TestKillAtRandom is one, and
// others wait for the API server that one of them stops. They mostly wait, so it exceeds
// the number of processors.
const parallelTests = 6

// shared is the control plane of all tests that do not stop it, alone that of those which
// do, and pulumiDir has the Pulumi of all tests. TestMain has no other way to pass them on.
var (
	shared    *controlplane.ControlPlane
	alone     exclusive
	pulumiDir string
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard()) // the client complains without a logger
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

// runTests starts the control plane, runs the tests and cleans up.
func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "crash-controlplane-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	pulumiDir = filepath.Join(dir, "pulumi")
	if err := os.Mkdir(pulumiDir, 0o755); err != nil {
		return 1, err
	}
	if err := system.WritePulumi(pulumiDir, ""); err != nil {
		return 1, err
	}
	if shared, err = startPlane(dir); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop(), alone.stop()) }()
	return m.Run(), nil
}
