// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package pulumi

import (
	"fmt"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/tests/parallel"
)

const (
	// parallelTests is how many tests with the real CLI go on at a time. They wait for providers for some of their time.
	parallelTests = 4
	// patience is how long something may take that a test waits for, on a busy machine.
	patience = 2 * time.Minute
)

func TestMain(m *testing.M) {
	if err := parallel.Tests(parallelTests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	SetDefaultEventuallyTimeout(patience)
	os.Exit(m.Run())
}
