// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestExplainSaysWhyAndWhatNextDecides(t *testing.T) {
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	inSync := Observation{
		HasFinalizer: true, Interval: time.Hour, RetryInterval: time.Minute, Digest: "d", Now: at,
		Last: LastRun{Operation: run.Update, Digest: "d", Succeeded: true, EndedAt: at},
	}
	for name, test := range map[string]struct {
		change func(*Observation)
		// decides is the rule that decides, with what it found. None for in sync.
		decides Check
	}{
		"in sync":      {func(*Observation) {}, Check{}},
		"other inputs": {func(o *Observation) { o.Digest = "e" }, Check{"inputs", "e, the last run had d", true}},
		"never run":    {func(o *Observation) { o.Last = LastRun{} }, Check{"inputs", "never run", true}},
		"a request":    {func(o *Observation) { o.Requested = true }, Check{"requests", "one that was not acknowledged", true}},
		"suspended":    {func(o *Observation) { o.Suspended = true }, Check{"suspension", "suspended", true}},
		"a repository to keep": {func(o *Observation) { o.GitObjects, o.Suspended = "suspend GitRepository a/b", true },
			Check{"objects for spec.projectRepo", "to be done: suspend GitRepository a/b", true}},
		"a missing one": {func(o *Observation) { o.Problem = &Problem{Reason: "InputsFailed", Message: "no Secret"} }, Check{"what a run needs", "InputsFailed: no Secret", true}},
		"failed": {func(o *Observation) { o.Last.Succeeded, o.Last.Reason = false, "UpdateFailed" },
			Check{"last run", "update failed with UpdateFailed at 2026-03-02T10:00:00Z", true}},
		"cancelled": {func(o *Observation) {
			o.Cancelled = &Cancelled{Operation: run.Update, Digest: "d"}
			o.Last.Succeeded, o.Last.Reason = false, v1.CancelRequestedReason
		}, Check{"cancelled run", "the last update was cancelled, of the same inputs", true}},
		"proposed": {func(o *Observation) {
			o.Last.Operation, o.Approval = run.Propose, Approval{Required: true, Plan: &Plan{Operation: run.Update, Digest: "sha256:a"}}
		}, Check{"approval", "required; plan sha256:a of an update is not approved", true}},
		"deleted": {func(o *Observation) { o.Deleting, o.DestroyOnFinalize = true, true }, Check{"destroy", "set", true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := inSync
			test.change(&o)
			decision, checks := Explain(o)
			g.Expect(decision).To(Equal(Next(o)), "it is the same decision")
			var decided Check
			for n, check := range checks {
				g.Expect(check.Found).NotTo(BeEmpty(), check.About)
				if check.Decided {
					decided = check
					g.Expect(n).To(Equal(len(checks)-1), "no rule is asked after it")
				}
			}
			g.Expect(decided).To(Equal(test.decides))
		})
	}
}
