// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

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
