// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
)

// parallelTests is how many tests on an API server run in parallel. They mostly wait for
// it.
const parallelTests = 6

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if err := parallel.Tests(parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
