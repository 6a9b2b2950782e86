// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestStarted(t *testing.T) {
	for name, tc := range map[string]struct{ before, now, revision, want string }{
		"none in flight":       {"{}", "{}", "v2", ""},
		"of the new revision":  {"{}", "{run: {id: b, operation: update, generation: 2, revision: v2}}", "v2", "b"},
		"after another":        {"{run: {id: a}}", "{run: {id: b, operation: preview, generation: 2, revision: v2}}", "v2", "b"},
		"that was there":       {"{run: {id: b}}", "{run: {id: b, operation: update, generation: 2, revision: v2}}", "v2", ""},
		"of an old revision":   {"{}", "{run: {id: b, operation: update, generation: 2, revision: v1}}", "v2", ""},
		"of an old spec":       {"{}", "{run: {id: b, operation: update, generation: 1, revision: v2}}", "v2", ""},
		"a recovery":           {"{}", "{run: {id: b, operation: recover, generation: 2, revision: v2}}", "v2", ""},
		"a preview on request": {"{}", "{run: {id: b, operation: preview, previewRequest: one, generation: 2, revision: v2}}", "v2", ""},
		"no revision is known": {"{}", "{run: {id: b, operation: update, generation: 2}}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Started(object(t, tc.before), object(t, tc.now), tc.revision)).To(Equal(tc.want))
		})
	}
}

func TestAfterRun(t *testing.T) {
	for name, tc := range map[string]struct {
		status string
		over   bool
		fault  string
	}{
		"in flight":            {status: "{observedGeneration: 2, run: {id: b}, conditions: [" + isUnknown + "]}"},
		"done":                 {status: "{observedGeneration: 2, conditions: [" + isReady + "]}", over: true},
		"failed":               {status: "{observedGeneration: 2, conditions: [" + isFailed + "," + withRetry + "]}", fault: "no such bucket"},
		"its outputs are read": {status: "{observedGeneration: 2, run: {id: c}, conditions: [" + isUnknown + "]}"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			over, err := AfterRun(object(t, tc.status), "b")
			g.Expect(over).To(Equal(tc.over))
			if tc.fault == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(tc.fault))
			}
		})
	}
}
