// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"
)

// TestOnACluster goes from an empty cluster to a controller that has been through all that a node does to it. Each step builds
// on those before, so that the first that fails is the last.
func TestOnACluster(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct {
		name string
		do   func(*world)
	}{
		{"Flux is installed", (*world).installFlux},
		{"the guide is followed", (*world).followGuide},
		{"config/default is installed", (*world).installDefault},
		{"probes and metrics are answered", (*world).lookAtPod},
		{"Stacks are ready, and their events arrive", (*world).bringUpStacks},
		{"a pod that is deleted finishes its run", (*world).deletePod},
		{"a pod that is killed is recovered from", (*world).killPod},
		{"an update of the Deployment hands over", (*world).updateDeployment},
		{"Stacks are destroyed", (*world).destroyStacks},
	} {
		began := time.Now()
		if !t.Run(step.name, func(t *testing.T) { step.do(w.in(t)) }) {
			return
		}
		t.Logf("%s: %s", step.name, time.Since(began).Round(time.Millisecond))
	}
}
