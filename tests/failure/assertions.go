// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"context"
	"testing"

	"github.com/onsi/gomega"
)

// Assertions are those of Gomega for tests that share an API server: they do not wait for anything after it has failed.
type Assertions struct {
	*gomega.WithT
	test testing.TB
	api  context.Context
}

// NewAssertions fails the test if the API server has failed already. The context is that of a control plane, whose cause says why.
func NewAssertions(test testing.TB, api context.Context) *Assertions {
	test.Helper()
	if err := context.Cause(api); err != nil {
		test.Fatalf("the API server had failed before the test began: %v", err)
	}
	a := &Assertions{WithT: gomega.NewWithT(test), test: test, api: api}
	a.EnforceDefaultTimeoutsWhenUsingContexts()
	return a
}

// Eventually is that of Gomega, but ends with the API server.
func (a *Assertions) Eventually(actual any, args ...any) gomega.AsyncAssertion {
	a.test.Helper()
	return a.WithT.Eventually(actual, args...).WithContext(a.api)
}
