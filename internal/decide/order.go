// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// The rules on order: a Stack waits for the Stacks it depends on, and on deletion for
// those that depend on it.

// dependencies hold back the start of a run, and nothing else. A Stack that has nothing
// to run stays ready whatever happens to its dependencies. A recovery does not wait: it
// only finds out what has already happened.
//
// They come before transient problems, because what is missing is often what a dependency
// makes.
func dependencies(o Observation) (Decision, bool) {
	if len(o.Unready) == 0 || !wantsRun(o) {
		return Decision{}, false
	}
	return Decision{
		Action:  Wait,
		Reason:  meta.DependencyNotReadyReason,
		Message: "Dependencies are not ready: " + some(o.Unready),
		After:   lookAgain(o),
	}, true
}

// wantsRun reports whether an update or a preview would start now. With a problem that is
// not known, and assumed.
func wantsRun(o Observation) bool {
	if _, recovers := recovery(o); recovers {
		return false
	}
	if o.Problem != nil {
		return true
	}
	if _, held := cancelledUpdate()(o); held {
		return false
	}
	for _, r := range forRun() {
		if d, ok := r.decide(o); ok {
			return d.Action == Start
		}
	}
	return false
}

// dependents are destroyed first: they may use the resources of this Stack.
func dependents(o Observation) (Decision, bool) {
	if len(o.Dependents) == 0 {
		return Decision{}, false
	}
	depends, them := "depends", "Stack "
	if len(o.Dependents) > 1 {
		depends, them = "depend", "Stacks "
	}
	return Decision{
		Action:  Wait,
		Reason:  meta.ProgressingReason,
		Message: fmt.Sprintf("Waiting for %s%s, which %s on this Stack, to be deleted", them, some(o.Dependents), depends),
		After:   lookAgain(o),
	}, true
}

// lookAgain is when to look at the other Stacks again. A change of one wakes this Stack,
// unless this controller does not watch it.
func lookAgain(o Observation) time.Duration {
	if o.RecheckAfter > 0 {
		return min(o.RecheckAfter, o.RetryInterval)
	}
	return o.RetryInterval
}

// maxNamed is the number of others that a message names at most.
const maxNamed = 10

func some(all []string) string { return plural.Some(all, maxNamed) }
