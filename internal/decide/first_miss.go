// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"github.com/fluxcd/pkg/apis/meta"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// IsFirstMiss reports whether a run that has ended only missed its artifact, and is the
// first of its inputs that did. Most likely the source got a newer artifact while the run
// waited for its pod, and its server deleted this one. If the run before was of the same
// inputs and did not get the artifact either, the source still offers it: that is a
// failure. So is what a run reports that did more than fetch.
func IsFirstMiss(last LastRun, digest string, ended *run.Result) bool {
	if ended.Outcome != run.ArtifactGone || ended.Interrupted || ended.Changes != (run.Changes{}) {
		return false
	}
	missed := last.Reason == v1.ArtifactGoneReason || last.Reason == meta.ArtifactFailedReason
	return !missed || last.RunDigest != digest
}
