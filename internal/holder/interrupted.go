// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package holder

import (
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// Interrupted returns the runs that a recovery is for, as seen from this process.
func Interrupted(recorded []v1.InterruptedRun, here v1.RunHolder) []run.Interrupted {
	var all []run.Interrupted
	for _, lost := range recorded {
		one := run.Interrupted{ID: lost.ID, Operation: lost.Operation, Host: lost.Host, Place: PlaceOf(lost.Host, lost.Instance, here), Backend: lost.Backend, Emptied: lost.Emptied}
		if lost.StartedAt != nil && lost.EndedAt != nil {
			// The API keeps whole seconds: it ended before the next one.
			one.From, one.To = lost.StartedAt.Time, lost.EndedAt.Add(time.Second)
		}
		all = append(all, one)
	}
	return all
}
