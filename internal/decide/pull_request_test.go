// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestACommitOfAPullRequestIsPreviewed(t *testing.T) {
	preview := decide.Decision{Action: decide.Start, Operation: run.Preview}
	synced := decide.Decision{Action: decide.InSync, After: 10 * time.Minute}
	for name, test := range map[string]struct {
		change func(o *decide.Observation)
		want   decide.Decision
	}{
		"a commit that changes no input":  {func(*decide.Observation) {}, preview},
		"after a preview that has failed": {func(o *decide.Observation) { failed(o, time.Second) }, preview},
		"the previewed Stack has changed": {func(o *decide.Observation) {
			o.Revision, o.ChangeRequest, o.PreviewOutdated = o.Last.Revision, false, true
		}, preview},
		"it has changed, and the last preview has failed": {func(o *decide.Observation) {
			o.Revision, o.PreviewOutdated = o.Last.Revision, true
			failed(o, 20*time.Second)
		}, decide.Decision{Action: decide.Fail, Reason: "UpdateFailed", Message: "no such bucket", After: 40 * time.Second}},
		"the comment shows what is gone": {func(o *decide.Observation) {
			o.Revision, o.CommentReplaced = o.Last.Revision, true
		}, preview},
		"a plan that cannot be approved, for now": {func(o *decide.Observation) {
			o.Revision, o.Incomparable, o.RetryInterval = o.Last.Revision, true, time.Minute
		}, decide.Decision{Action: decide.InSync, After: time.Minute}},
		"the same commit":                      {func(o *decide.Observation) { o.Revision = o.Last.Revision }, synced},
		"without a pull request":               {func(o *decide.Observation) { o.ChangeRequest = false }, synced},
		"no preview":                           {func(o *decide.Observation) { o.Preview = false }, synced},
		"a last run whose commit is not known": {func(o *decide.Observation) { o.Last.Revision = "" }, synced},
		"a suspended Stack":                    {func(o *decide.Observation) { o.Suspended = true }, decide.Decision{Action: decide.MarkSuspended}},
	} {
		t.Run(name, func(t *testing.T) {
			o := inSync()
			o.Preview, o.ChangeRequest, o.Revision = true, true, "main@sha1:b"
			o.Last.Operation, o.Last.Revision = run.Preview, "main@sha1:a"
			test.change(&o)
			NewWithT(t).Expect(decide.Next(o)).To(Equal(test.want))
		})
	}
}
