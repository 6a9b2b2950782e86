// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestJitterStaysWithinItsPercentage(t *testing.T) {
	g := NewWithT(t)
	spread := jittered(5)
	seen := map[time.Duration]bool{}
	for range 200 {
		d := spread(time.Minute)
		g.Expect(d).To(And(BeNumerically(">=", 57*time.Second), BeNumerically("<=", 63*time.Second)))
		seen[d] = true
	}
	g.Expect(len(seen)).To(BeNumerically(">", 100))
	g.Expect(jittered(0)(time.Minute)).To(Equal(time.Minute))
}
