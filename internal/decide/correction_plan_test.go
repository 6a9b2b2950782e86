// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// waitingCorrection is a Stack whose plan that undoes drift waits, and whose resync is due.
func waitingCorrection(o *decide.Observation) {
	checked(o, 48*time.Hour)
	o.ContinueResync = true
	o.Approval.Required = true
	o.Drift.Correction = decide.Correction{Drift: "sha256:drift", NeedsPlan: true, Plan: &decide.Plan{Operation: run.Update, Digest: "sha256:plan", MadeAt: now}}
}

// A proposal of a resync would replace the plan that waits, and that one the other, each interval.
func TestNoResyncIsProposedWhileDriftIsToBeUndone(t *testing.T) {
	testNext(t, []nextCase{
		{"while it waits", waitingCorrection, decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"while it is rejected", func(o *decide.Observation) {
			waitingCorrection(o)
			o.Drift.Correction.Plan.Rejected = true
		}, decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"it is applied once approved", func(o *decide.Observation) {
			waitingCorrection(o)
			o.Drift.Correction.Plan.Approved = true
		}, decide.Decision{Action: decide.Start, Operation: run.Update, Drift: "sha256:drift", Approved: "sha256:plan"}},
		{"before it is proposed", func(o *decide.Observation) {
			waitingCorrection(o)
			o.Drift.Correction.Plan = nil
		}, start(run.Propose)},
		{"other inputs are proposed all the same", func(o *decide.Observation) {
			waitingCorrection(o)
			o.Digest = "sha256:new"
		}, start(run.Propose)},
		{"a resync that needs no approval replaces no plan", func(o *decide.Observation) {
			waitingCorrection(o)
			o.Approval.Required = false
		}, start(run.Update)},
	})
}

// Another user may have changed the state, or deleted the details.
func TestAPlanThatUndoesDriftIsMadeAgainAfterACheck(t *testing.T) {
	older := func(age time.Duration, change func(*decide.Plan)) func(*decide.Observation) {
		return func(o *decide.Observation) {
			waitingCorrection(o)
			p := o.Drift.Correction.Plan
			p.MadeAt, o.Drift.LastAt = now.Add(-age), now.Add(-age+time.Second)
			if change != nil {
				change(p)
			}
		}
	}
	testNext(t, []nextCase{
		{"once", older(time.Hour, func(p *decide.Plan) { p.MadeAt = now }), decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"at the retry interval", older(time.Hour, nil), decide.Decision{Action: decide.Start, Operation: run.Propose, Drift: "sha256:drift"}},
		{"and not before", older(20*time.Second, nil), decide.Decision{Action: decide.InSync, After: 40 * time.Second}},
		{"not if it is rejected", older(time.Hour, func(p *decide.Plan) { p.Rejected = true }), decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"it is applied if it is approved", older(time.Hour, func(p *decide.Plan) { p.Approved = true }),
			decide.Decision{Action: decide.Start, Operation: run.Update, Drift: "sha256:drift", Approved: "sha256:plan"}},
	})
}

func TestAPlanThatUndoesDriftIsMadeAgainIfItsDetailsAreMissing(t *testing.T) {
	unwritten := func(age time.Duration, change func(*decide.Plan)) func(*decide.Observation) {
		return func(o *decide.Observation) {
			waitingCorrection(o)
			p := o.Drift.Correction.Plan
			p.Unwritten, p.MadeAt = true, now.Add(-age)
			if change != nil {
				change(p)
			}
		}
	}
	inSyncFor := func(after time.Duration) decide.Decision { return decide.Decision{Action: decide.InSync, After: after} }
	testNext(t, []nextCase{
		{"at the retry interval", unwritten(time.Minute, nil), decide.Decision{Action: decide.Start, Operation: run.Propose, Drift: "sha256:drift"}},
		{"and not before", unwritten(20*time.Second, nil), inSyncFor(40 * time.Second)},
		{"with a clock that was set back too", unwritten(-time.Hour, nil), inSyncFor(time.Minute)},
		{"not if it is rejected", unwritten(time.Hour, func(p *decide.Plan) { p.Rejected = true }), inSyncFor(10 * time.Minute)},
		{"it is applied if it is approved", unwritten(time.Hour, func(p *decide.Plan) { p.Approved = true }),
			decide.Decision{Action: decide.Start, Operation: run.Update, Drift: "sha256:drift", Approved: "sha256:plan"}},
	})
}

// A correction that could not run has changed nothing: it is tried again as an update is, and no check comes first.
func TestACorrectionThatCouldNotRunIsTriedAgain(t *testing.T) {
	correct := decide.Decision{Action: decide.Start, Operation: run.Update, Drift: "sha256:drift"}
	failed := func(reason string, failures int64, ago time.Duration, more ...func(*decide.Observation)) func(*decide.Observation) {
		return func(o *decide.Observation) {
			waitingCorrection(o)
			o.Approval.Required = false
			o.ContinueResync = false
			o.RetryInterval = time.Minute
			o.Drift.Correction = decide.Correction{Drift: "sha256:drift", Failures: failures, Reason: reason, LastAt: now.Add(-ago)}
			for _, change := range more {
				change(o)
			}
		}
	}
	proposal := func(o *decide.Observation) { o.Drift.Correction.NeedsPlan = true }
	waits := func(wait time.Duration) decide.Decision { return decide.Decision{Action: decide.InSync, After: wait} }
	testNext(t, []nextCase{
		{"at first", failed("", 0, 0), correct},
		{"the backend does not answer", failed(v1.BackendUnavailableReason, 1, 4*time.Second), waits(6 * time.Second)},
		{"it did not ten seconds ago", failed(v1.BackendUnavailableReason, 1, 10*time.Second), correct},
		{"it did not the second time", failed(v1.BackendUnavailableReason, 2, 10*time.Second), waits(10 * time.Second)},
		{"it has not for long", failed(v1.BackendUnavailableReason, 90, 10*time.Second), waits(50 * time.Second)},
		{"a lock", failed(v1.StackLockedReason, 1, 10*time.Second), waits(50 * time.Second)},
		{"a lock, with retryOnUpdateConflict", failed(v1.StackLockedReason, 1, 2*time.Second, func(o *decide.Observation) { o.RetryConflict = true }), waits(3 * time.Second)},
		{"a proposal", failed(v1.BackendUnavailableReason, 1, 4*time.Second, proposal), waits(6 * time.Second)},
		{"a proposal that is due", failed(v1.BackendUnavailableReason, 1, 10*time.Second, proposal),
			decide.Decision{Action: decide.Start, Operation: run.Propose, Drift: "sha256:drift"}},
		{"a proposal that was interrupted", failed(v1.RunInterruptedReason, 1, 0, proposal), decide.Decision{Action: decide.Start, Operation: run.Propose, Drift: "sha256:drift"}},
		{"a proposal that was interrupted twice", failed(v1.RunInterruptedReason, 2, 0, proposal), waits(10 * time.Second)},
	})
}

func TestAnExistingStackIsScheduledForItsFirstCheck(t *testing.T) {
	scheduled := []decide.Duty{decide.ScheduleDrift}
	unscheduled := func(more func(*decide.Observation)) func(*decide.Observation) {
		return func(o *decide.Observation) {
			checked(o, time.Hour)
			o.Drift.NextAt, o.Drift.Unscheduled = now.Add(time.Minute), true
			if more != nil {
				more(o)
			}
		}
	}
	testNext(t, []nextCase{
		{"in sync", unscheduled(nil), decide.Decision{Action: decide.InSync, After: time.Minute, Duties: scheduled}},
		{"suspended", unscheduled(func(o *decide.Observation) { o.Suspended = true }), decide.Decision{Action: decide.MarkSuspended, After: time.Minute, Duties: scheduled}},
	})
}
