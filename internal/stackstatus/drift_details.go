// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// DriftDetails is where the whole of what a check for drift has found is.
type DriftDetails struct {
	// ContentDigest is empty if the ConfigMap is left over from an earlier check.
	ConfigMap, ContentDigest string
}

// recordDriftDetails records where the details of the last check are. One that failed leaves
// those of the check before.
func recordDriftDetails(stack *v1.Stack, result *run.Result, details DriftDetails) {
	if d := stack.Status.Drift; d != nil && result.Drift != nil {
		d.ConfigMap, d.ContentDigest = details.ConfigMap, details.ContentDigest
	}
}

// OutdatedDriftDetails returns where the details of an earlier check are, which are no longer
// what has drifted.
func OutdatedDriftDetails(stack *v1.Stack) DriftDetails {
	return DriftDetails{ConfigMap: driftStatus(stack).ConfigMap}
}
