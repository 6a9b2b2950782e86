// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestPreviewBetween(t *testing.T) {
	inSync := Decision{Action: InSync, After: time.Hour}
	for name, tc := range map[string]struct {
		seen      Observation
		due, want Decision
	}{
		"not asked for":       {Observation{}, inSync, inSync},
		"asked for":           {Observation{PreviewRequested: true}, inSync, Decision{Action: PreviewOnRequest, After: 2 * time.Second}},
		"waits, and is woken": {Observation{PreviewRequested: true, PreviewWaits: true}, inSync, Decision{Action: PreviewOnRequest, After: 30 * time.Second}},
		"a request without a source comes first": {
			Observation{PreviewRequested: true, PreviewWaits: true, Requested: true}, Decision{Action: Fail, Reason: "ArtifactFailed", After: time.Minute},
			Decision{Action: Fail, Reason: "ArtifactFailed", After: 2 * time.Second},
		},
		"that request was answered": {
			Observation{PreviewRequested: true, PreviewWaits: true}, Decision{Action: Fail}, Decision{Action: PreviewOnRequest, After: 30 * time.Second},
		},
		"a source on its way answers nothing": {
			Observation{PreviewRequested: true, PreviewWaits: true, Requested: true}, Decision{Action: Fail, Fetching: true},
			Decision{Action: PreviewOnRequest, After: 30 * time.Second},
		},
		"nobody wants it by now": {Observation{PreviewWaits: true}, inSync, inSync},
		"a run is due":           {Observation{PreviewRequested: true, PreviewWaits: true}, Decision{Action: Start}, Decision{Action: Start}},
		"a run is in flight":     {Observation{PreviewRequested: true, Run: &Run{}}, inSync, inSync},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(previewBetween(tc.seen, tc.due)).To(Equal(tc.want))
		})
	}
}

func TestKeepsTurn(t *testing.T) {
	waits := Observation{PreviewRequested: true, PreviewWaits: true, Requested: true}
	for name, tc := range map[string]struct {
		seen Observation
		does Decision
		want bool
	}{
		"a run is due":                      {Observation{}, Decision{Action: Start}, true},
		"a preview":                         {waits, Decision{Action: PreviewOnRequest}, true},
		"a preview, and a request is first": {waits, Decision{Action: Fail}, true},
		"nothing can be run":                {Observation{Requested: true}, Decision{Action: Fail}, false},
		"nobody wants the preview by now":   {Observation{Requested: true, PreviewWaits: true}, Decision{Action: Fail}, false},
		"in sync":                           {Observation{}, Decision{Action: InSync}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(KeepsTurn(tc.seen, tc.does)).To(Equal(tc.want))
		})
	}
}
