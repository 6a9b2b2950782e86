// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"
)

// TestOnACluster goes from an empty cluster to a controller that has survived everything a node may do to it. Each
// step builds on those before, so the first failure is the last step.
func TestOnACluster(t *testing.T) {
	w := newWorld(t)
	w.steps(
		step{"Flux is installed", (*world).installFlux},
		step{"the guide is followed", (*world).followGuide},
		step{"config/default is installed", (*world).installDefault},
		step{"probes and metrics are answered", (*world).lookAtPod},
		step{"Stacks are ready, and their events arrive", (*world).bringUpStacks},
		step{"a pod that is deleted finishes its run", (*world).deletePod},
		step{"a pod that is killed is recovered from", (*world).killPod},
		step{"an update of the Deployment hands over", (*world).updateDeployment},
		step{"plugins are there beforehand", (*world).installPlugins},
		step{"the data directory is on a volume", (*world).keepData},
		step{"50 Stacks at once", (*world).bringUpManyLocally},
		step{"Stacks are destroyed", (*world).destroyStacks},
		step{"the controller is uninstalled", (*world).uninstall},
	)
}

// step is an action on the cluster with its checks.
type step struct {
	name string
	do   func(*world)
}

// needsMinutes skips a step that keeps both processors busy for minutes if go test has the flag -short. No other step builds
// on one.
func (w *world) needsMinutes() {
	w.test.Helper()
	if testing.Short() {
		w.test.Skip("SKIPPED: this step takes minutes, and -short is set")
	}
}

// steps runs the steps until one fails.
func (w *world) steps(steps ...step) {
	for _, step := range steps {
		began := time.Now()
		if !w.test.Run(step.name, func(t *testing.T) { step.do(w.in(t)) }) {
			return
		}
		w.test.Logf("%s: %s", step.name, time.Since(began).Round(time.Millisecond))
	}
}
