// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestLookBetween(t *testing.T) {
	inSync := Decision{Action: InSync, After: time.Hour}
	for name, tc := range map[string]struct {
		seen      Observation
		due, want Decision
	}{
		"not asked for":          {Observation{}, inSync, inSync},
		"asked for":              {Observation{PreviewRequested: true}, inSync, Decision{Action: Look, After: 2 * time.Second}},
		"waits, and is woken":    {Observation{PreviewRequested: true, PreviewWaits: true}, inSync, Decision{Action: Look, After: 30 * time.Second}},
		"nobody wants it by now": {Observation{PreviewWaits: true}, inSync, inSync},
		"a run is due":           {Observation{PreviewRequested: true, PreviewWaits: true}, Decision{Action: Start}, Decision{Action: Start}},
		"a run is in flight":     {Observation{PreviewRequested: true, Run: &Run{}}, inSync, inSync},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(lookBetween(tc.seen, tc.due)).To(Equal(tc.want))
		})
	}
}
