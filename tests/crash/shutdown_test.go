// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// A controller that is told to stop lets the resource in flight finish and be recorded,
// writes the result of the run, and exits without an error.
func TestShutdownFinishesWhatIsInFlight(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t, "--graceful-shutdown-timeout=4m", "--cancel-grace=3m"), "shutdown")
	u.create(ctx, append(held(), thing{name: "after", value: "one", after: "slow"}), nil)
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")

	u.stopInMidRun()
	u.Expect(u.s.Controller.Wait()).To(Succeed(), "it ends with status 0")

	stack := u.stack(ctx)
	u.Expect(stack.Status.Run).To(BeNil(), "what happened to the run is written")
	u.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.RunCancelledReason), u.report(ctx))
	u.Expect(stack.Status.LastUpdate.Name).To(Equal(recorded.ID), "no other run was started")
	u.Expect(stack.Status.UnknownCreates).To(BeEmpty())
	u.Expect(stack.Status.Interrupted).To(BeEmpty())
	u.Expect(u.count(cloud.Create, cloud.Done, "slow")).To(Equal(1), "it was finished")
	u.Expect(u.count(cloud.Create, cloud.Begin, "after")).To(BeZero(), "nothing else was started")
	u.Expect(u.known()).To(HaveLen(1), "it is in the state")
	u.Expect(u.processes("")).To(BeEmpty(), "no process of the run lives on")
	u.checkQuiet()

	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitCurrent(ctx)
	u.checkExact()
	u.remove(ctx)
	u.checkDestroyed()
}

// A controller with too short a grace period exits when that is over. The run that it
// asked to stop continues to its end, and the next process takes over.
func TestShutdownThatIsTooShortIsBoundedAndRecoveredFrom(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t, "--graceful-shutdown-timeout=1s"), "short")
	u.create(ctx, held(), nil)
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")

	u.Expect(u.s.Controller.Stop()).To(Succeed(), "it ends when its time has passed: the run does not")
	u.Expect(u.s.Controller.Wait()).NotTo(Succeed(), "it says that it left something behind")
	left := u.stack(ctx)
	u.Expect(left.Status.Run).To(HaveField("ID", recorded.ID), "the run is still recorded")
	u.Expect(conditions.GetMessage(left, meta.ReadyCondition)).To(Equal(
		"The controller exited while run " + recorded.ID + " (update) was in flight; the next controller recovers from it"))

	u.release()
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitCurrent(ctx)
	u.checkExact()
}
