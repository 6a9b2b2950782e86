// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

// Package short marks the tests that `go test -short`, and so `make test`, leaves out. `make test-long` runs exactly
// those: hack/long-tests.sh finds them by the call of Skip.
package short

import "testing"

// Skip leaves a test out of `go test -short`. Call it in the test function itself, not in a helper.
//
// A test belongs here if what it proves is a variant of what a test that stays proves, or if it takes long and hardly
// any change can break it.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short, make test-long runs it")
	}
}
