// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"fmt"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
)

// Drift counts what has drifted.
func Drift(of *v1.DriftStatus) string {
	text := plan.DriftText(plan.Counts{Update: int(of.Changed), Delete: int(of.Deleted)})
	if of.Digest != "" {
		text += " outside of Pulumi"
	}
	if of.Ignored > 0 {
		text += fmt.Sprintf(" (%d ignored)", of.Ignored)
	}
	if of.Unfinished != nil {
		text += ", recorded in the state by an update that failed"
	}
	return text
}
