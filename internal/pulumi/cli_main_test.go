// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/pulumi/analyzer"
	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
)

const (
	// parallelTests is how many tests with the real CLI run in parallel. They spend
	// part of their time waiting for providers.
	parallelTests = 4
	// patience is how long a test waits for something, on a busy machine.
	patience = 2 * time.Minute
)

func TestMain(m *testing.M) {
	if analyzer.IsAnalyzer(os.Args[0]) { // as the controller itself is, while it runs packs
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code, err := analyzer.Run(ctx, os.Args)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	if err := parallel.Tests(parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	SetDefaultEventuallyTimeout(patience)
	os.Exit(m.Run())
}
