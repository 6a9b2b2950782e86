// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package decide_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// required has changes need an approval, and nothing proposed.
func required(o *decide.Observation) { o.Approval.Required = true }

// waiting is a Stack whose update was proposed 4 minutes ago, and waits.
func waiting(o *decide.Observation) {
	required(o)
	o.Last.Operation, o.Last.EndedAt = run.Propose, now.Add(-4*time.Minute)
	o.Approval.Plan = &decide.Plan{Operation: run.Update, Digest: "sha256:plan", Message: "1 to create"}
}

func approved(o *decide.Observation) {
	waiting(o)
	o.Approval.Plan.Approved = true
}

// cancelledProposal is a Stack whose plan waits, and was being made again when a person has
// cancelled that.
func cancelledProposal(o *decide.Observation) {
	waiting(o)
	failed(o, time.Hour)
	o.Last.Operation, o.Last.Reason = run.Propose, v1.CancelRequestedReason
	o.Cancelled = &decide.Cancelled{Operation: run.Propose, Digest: "sha256:applied", Message: "cancelled"}
}

// waitingDestroy is a deleted Stack whose destroy was proposed, and waits.
func waitingDestroy(o *decide.Observation) {
	waiting(o)
	o.Deleting, o.DestroyOnFinalize, o.HasFinalizer = true, true, true
	o.Last.Operation, o.Approval.Plan.Operation = run.ProposeDestroy, run.Destroy
}

func startApproved(op run.Operation) decide.Decision {
	return decide.Decision{Action: decide.Start, Operation: op, Approved: "sha256:plan"}
}

func await(after time.Duration) decide.Decision {
	return decide.Decision{Action: decide.AwaitApproval, Reason: v1.ApprovalRequiredReason, Message: "1 to create", After: after}
}

func TestNextWithApprovals(t *testing.T) {
	rejected := decide.Decision{Action: decide.Stall, Reason: v1.PlanRejectedReason, Message: "1 to create", After: 10 * time.Minute}
	testNext(t, []nextCase{
		{"nothing is proposed while nothing is due", required, decide.Decision{Action: decide.InSync, After: 10 * time.Minute}},
		{"other inputs are proposed", func(o *decide.Observation) { required(o); o.Digest = "sha256:new" }, start(run.Propose)},
		{"a request is answered with a proposal", func(o *decide.Observation) { required(o); o.Requested = true }, start(run.Propose)},
		{"a resync is proposed", func(o *decide.Observation) { required(o); o.ContinueResync = true }, start(run.Propose)},
		{"a failed proposal is retried like an update", func(o *decide.Observation) {
			required(o)
			failed(o, 4*time.Second)
			o.Last.Operation = run.Propose
		}, retryIn(56 * time.Second)},
		{"and then", func(o *decide.Observation) {
			required(o)
			failed(o, time.Minute)
			o.Last.Operation = run.Propose
		}, start(run.Propose)},
		{"an approval does not wait for the retry of a failed proposal", func(o *decide.Observation) {
			approved(o)
			failed(o, 4*time.Second)
			o.Last.Operation = run.Propose
		}, startApproved(run.Update)},
		{"unlike one of another operation", func(o *decide.Observation) {
			approved(o)
			failed(o, 4*time.Second)
			o.Last.Operation, o.Approval.Plan.Operation = run.Propose, run.Destroy
		}, retryIn(56 * time.Second)},
		{"what is proposed waits until it is made again at the interval", waiting, await(6 * time.Minute)},
		{"or at the retry interval, if its details could not be written", func(o *decide.Observation) {
			waiting(o)
			o.Approval.Plan.Unwritten = true
		}, start(run.Propose)},
		{"and not before", func(o *decide.Observation) {
			waiting(o)
			o.Approval.Plan.Unwritten, o.Last.EndedAt = true, now.Add(-20*time.Second)
		}, await(40 * time.Second)},
		{"and is made again then", func(o *decide.Observation) { waiting(o); o.Last.EndedAt = now.Add(-10 * time.Minute) }, start(run.Propose)},
		{"with a clock that was set back too", func(o *decide.Observation) { waiting(o); o.Last.EndedAt = now.Add(time.Hour) }, await(10 * time.Minute)},
		{"a request while it waits makes it again", func(o *decide.Observation) { waiting(o); o.Requested = true }, start(run.Propose)},
		{"other inputs replace it", func(o *decide.Observation) { waiting(o); o.Digest = "sha256:new" }, start(run.Propose)},
		{"once approved, it is applied", approved, startApproved(run.Update)},
		{"also for a request", func(o *decide.Observation) { approved(o); o.Requested = true }, startApproved(run.Update)},
		{"an approval also counts for other inputs, if the plan is the same", func(o *decide.Observation) { approved(o); o.Digest = "sha256:new" }, startApproved(run.Update)},
		{"an approved update that has failed is retried with its approval", func(o *decide.Observation) {
			approved(o)
			failed(o, time.Minute)
			o.Last.Operation = run.Update
		}, startApproved(run.Update)},
		{"but not before the retry interval", func(o *decide.Observation) {
			approved(o)
			failed(o, 4*time.Second)
			o.Last.Operation = run.Update
		}, retryIn(56 * time.Second)},
		{"what is rejected stalls", func(o *decide.Observation) { waiting(o); o.Approval.Plan.Rejected = true }, rejected},
		{"a rejection counts for more than an approval", func(o *decide.Observation) { approved(o); o.Approval.Plan.Rejected = true }, rejected},
		{"a request has what is rejected proposed again", func(o *decide.Observation) {
			approved(o)
			o.Approval.Plan.Rejected, o.Requested = true, true
		}, start(run.Propose)},
		{"without an approval being required any more, it is applied", func(o *decide.Observation) { waiting(o); o.Approval.Required = false }, start(run.Update)},
		{"and so without a plan, it is proposed", func(o *decide.Observation) { waiting(o); o.Approval.Plan = nil }, start(run.Propose)},
		{"an approval of a destroy is none of an update", func(o *decide.Observation) { approved(o); o.Approval.Plan.Operation = run.Destroy }, start(run.Propose)},
		{"a suspended Stack does nothing with its approval", func(o *decide.Observation) { approved(o); o.Suspended = true }, decide.Decision{Action: decide.MarkSuspended}},
		{"dependencies come before the approved update", func(o *decide.Observation) { approved(o); o.Unready = []string{"Stack default/a is not ready"} },
			decide.Decision{Action: decide.Wait, Reason: "DependencyNotReady", Message: "Dependencies are not ready: Stack default/a is not ready", After: time.Minute}},
		{"and do not matter to what waits", func(o *decide.Observation) { waiting(o); o.Unready = []string{"Stack default/a is not ready"} }, await(6 * time.Minute)},
		{"a recovery needs no approval", func(o *decide.Observation) { waiting(o); o.Interrupted = true; interruptedNow(o) }, start(run.Recover)},
		{"what runs after it does", func(o *decide.Observation) { required(o); o.Last.Operation = run.Recover }, start(run.Propose)},
		{"unless it is approved", func(o *decide.Observation) { approved(o); o.Last.Operation = run.Recover }, startApproved(run.Update)},
		{"a preview needs none", func(o *decide.Observation) { waiting(o); o.Preview, o.Digest = true, "sha256:new" }, start(run.Preview)},
		{"reading the outputs needs none", func(o *decide.Observation) { waiting(o); o.Outputs.Stale = true }, start(run.ReadOutputs)},
		{"and if they cannot be read, the proposal is what counts", func(o *decide.Observation) {
			waiting(o)
			o.Outputs = decide.Outputs{Stale: true, Fault: "too big"}
		}, await(6 * time.Minute)},
		{"a cancelled proposal is not made again by itself", func(o *decide.Observation) {
			required(o)
			failed(o, time.Hour)
			o.Last.Operation = run.Propose
			o.Cancelled = &decide.Cancelled{Operation: run.Propose, Digest: "sha256:applied", Message: "cancelled"}
		}, decide.Decision{Action: decide.Stall, Reason: v1.CancelRequestedReason, Message: "cancelled", After: 10 * time.Minute}},
		{"also while a plan waits", cancelledProposal, decide.Decision{Action: decide.Stall, Reason: v1.CancelRequestedReason, Message: "cancelled", After: 10 * time.Minute}},
		{"unless the plan is approved", func(o *decide.Observation) { cancelledProposal(o); o.Approval.Plan.Approved = true }, startApproved(run.Update)},
		{"and not also rejected", func(o *decide.Observation) {
			cancelledProposal(o)
			o.Approval.Plan.Approved, o.Approval.Plan.Rejected = true, true
		}, decide.Decision{Action: decide.Stall, Reason: v1.CancelRequestedReason, Message: "cancelled", After: 10 * time.Minute}},
		{"an approval starts no cancelled update again", func(o *decide.Observation) {
			cancelledProposal(o)
			o.Approval.Plan.Approved, o.Last.Operation, o.Cancelled.Operation = true, run.Update, run.Update
		}, decide.Decision{Action: decide.Stall, Reason: v1.CancelRequestedReason, Message: "cancelled", After: 10 * time.Minute}},
		{"a preview on request is made while a plan waits", func(o *decide.Observation) { waiting(o); o.PreviewRequested = true },
			decide.Decision{Action: decide.PreviewOnRequest, After: 2 * time.Second}},

		{"a destroy is proposed", func(o *decide.Observation) { required(o); o.Deleting, o.DestroyOnFinalize = true, true }, start(run.ProposeDestroy)},
		{"also while an update waits, or is approved", func(o *decide.Observation) { approved(o); o.Deleting, o.DestroyOnFinalize = true, true }, start(run.ProposeDestroy)},
		{"it waits", waitingDestroy, await(6 * time.Minute)},
		{"is made again at the interval", func(o *decide.Observation) { waitingDestroy(o); o.Last.EndedAt = now.Add(-time.Hour) }, start(run.ProposeDestroy)},
		{"and is done once approved", func(o *decide.Observation) { waitingDestroy(o); o.Approval.Plan.Approved = true }, startApproved(run.Destroy)},
		{"a rejected destroy keeps the object", func(o *decide.Observation) { waitingDestroy(o); o.Approval.Plan.Rejected = true }, rejected},
		{"a failed proposal of the destroy is retried", func(o *decide.Observation) {
			waitingDestroy(o)
			failed(o, time.Minute)
		}, start(run.ProposeDestroy)},
		{"unless it is approved, which waits for no retry", func(o *decide.Observation) {
			waitingDestroy(o)
			failed(o, 4*time.Second)
			o.Approval.Plan.Approved, o.Last.Operation = true, run.ProposeDestroy
		}, startApproved(run.Destroy)},
		{"a destroy that has failed is proposed again unless the approval is still there", func(o *decide.Observation) {
			waitingDestroy(o)
			failed(o, time.Minute)
			o.Last.Operation = run.Destroy
		}, start(run.ProposeDestroy)},
		{"also after its proposal was cancelled", func(o *decide.Observation) {
			waitingDestroy(o)
			failed(o, 4*time.Second)
			o.Approval.Plan.Approved, o.Last.Operation = true, run.ProposeDestroy
			o.Cancelled = &decide.Cancelled{Operation: run.ProposeDestroy, Digest: "sha256:applied", Message: "cancelled"}
		}, startApproved(run.Destroy)},
		{"a Stack that is deleted without a destroy waits for nobody", func(o *decide.Observation) { waitingDestroy(o); o.DestroyOnFinalize = false },
			decide.Decision{Action: decide.RemoveFinalizer}},
		{"nor does one that was destroyed", func(o *decide.Observation) { waitingDestroy(o); o.Last.Operation = run.Destroy }, decide.Decision{Action: decide.RemoveFinalizer}},
	})
}

func TestAProposalIsNoDestroy(t *testing.T) {
	g := NewWithT(t)
	o := inSync()
	waitingDestroy(&o)
	g.Expect(decide.Destroyed(o)).To(BeFalse())
}
