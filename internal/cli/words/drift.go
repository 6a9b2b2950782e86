// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plural"
)

// Drift counts what has drifted.
func Drift(of *v1.DriftStatus) string {
	switch {
	case of.Unfinished == nil:
		return driftFound(of)
	case of.Digest == "":
		return unfinishedDrift(of.Unfinished)
	}
	return driftFound(of) + ", and " + unfinishedDrift(of.Unfinished)
}

func unfinishedDrift(of *v1.UnfinishedDrift) string {
	return "drift of " + plural.Of(len(of.Targets)+int(of.Others), "resource", "resources") + " that an update has recorded in the state before it failed"
}

func driftFound(of *v1.DriftStatus) string {
	text := plan.DriftText(plan.Counts{Update: int(of.Changed), Delete: int(of.Deleted)})
	if of.Digest != "" {
		text += " outside of Pulumi"
	}
	if of.Ignored > 0 {
		text += fmt.Sprintf(" (%d ignored)", of.Ignored)
	}
	return text
}
