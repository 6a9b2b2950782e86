// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
)

func TestChecksThatPassedAreRememberedWithinBounds(t *testing.T) {
	g := NewWithT(t)
	store := open(t, roomy)
	g.Expect(store.Passed(id("apps", "a"))).To(BeFalse())
	store.SetPassed(id("apps", "a"))
	g.Expect(store.Passed(id("apps", "a"))).To(BeTrue())
	g.Expect(store.Passed(id("infra", "a"))).To(BeFalse())
	for i := range maxPassed + 10 {
		store.SetPassed(id("apps", strconv.Itoa(i)))
	}
	g.Expect(len(store.passed)).To(BeNumerically("<=", maxPassed))
	g.Expect(store.Passed(id("apps", strconv.Itoa(maxPassed+9)))).To(BeTrue())
}
