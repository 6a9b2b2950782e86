// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package run

import "context"

// Reporter receives what a run reports while it is in flight, from one goroutine at a time.
type Reporter interface {
	// Progress receives the progress of the run.
	Progress(progress Progress)
	// UnknownCreates receives the sorted URNs of creations with unknown outcome as soon as
	// the events of the run show one, and all of them again when another shows up. In the
	// end they are also in Result.UnknownCreates.
	UnknownCreates(urns []string)
	// Found receives what the run has found out about its stack, all of it each time. The
	// run continues when it returns. After an error, a destroy that has deleted every
	// resource does not remove the stack. ctx is done when the run is told to stop.
	Found(ctx context.Context, found Found) error
}
