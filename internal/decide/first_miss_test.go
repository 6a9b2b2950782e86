// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTheFirstMissOfAnArtifactIsNoFailure(t *testing.T) {
	gone := run.Result{Outcome: run.ArtifactGone}
	for name, test := range map[string]struct {
		last  decide.LastRun
		ended run.Result
		want  bool
	}{
		"the first run":                            {decide.LastRun{}, gone, true},
		"after a success":                          {decide.LastRun{RunDigest: "d", Succeeded: true}, gone, true},
		"after another failure of the inputs":      {decide.LastRun{RunDigest: "d", Reason: "UpdateFailed"}, gone, true},
		"after others that were gone":              {decide.LastRun{RunDigest: "c", Reason: "ArtifactGone"}, gone, true},
		"after others that could not be fetched":   {decide.LastRun{RunDigest: "c", Reason: "ArtifactFailed"}, gone, true},
		"the second time":                          {decide.LastRun{RunDigest: "d", Reason: "ArtifactGone"}, gone, false},
		"the third time":                           {decide.LastRun{RunDigest: "d", Reason: "ArtifactFailed"}, gone, false},
		"an artifact that is there and unusable":   {decide.LastRun{}, run.Result{Outcome: run.ArtifactFailed}, false},
		"a run that was killed, so it had started": {decide.LastRun{}, run.Result{Outcome: run.ArtifactGone, Interrupted: true}, false},
		"a run with changes, so it did not fetch":  {decide.LastRun{}, run.Result{Outcome: run.ArtifactGone, Changes: run.Changes{Created: 1}}, false},
		"a run that failed":                        {decide.LastRun{}, run.Result{Outcome: run.Failed}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(decide.IsFirstMiss(test.last, "d", &test.ended)).To(Equal(test.want))
		})
	}
}
