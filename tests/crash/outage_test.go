// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"flag"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

var outage = flag.Duration("outage", 30*time.Second, "how long the API server is away")

// The result of a run that ends while the API server is away is kept and written later,
// and the run is not repeated.
func TestAPIServerAwayInMidUpdate(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t), "outage")
	u.create(ctx, held(), nil)
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")

	back := time.After(*outage)
	u.stopAPIServer()
	u.release()
	u.Eventually(func() []int { return u.processes("") }).Should(BeEmpty(), "the run ends")
	u.Expect(u.count(cloud.Create, cloud.Done, "slow")).To(Equal(1))
	u.Eventually(back, *outage+time.Second).Should(Receive())
	u.Expect(u.s.Controller.Done()).NotTo(BeClosed(), "the controller lives through it")
	u.Expect(u.s.ControlPlane.StartAPIServer(ctx)).To(Succeed())

	u.awaitCurrent(ctx)
	stack := u.stack(ctx)
	u.Expect(stack.Status.LastUpdate.Name).To(Equal(recorded.ID), "no other run was made")
	u.Expect(stack.Status.LastUpdate.State).To(Equal(v1.UpdateSucceeded))
	u.checkExact()
}

// A controller that stops while the API server is away keeps the result on disk for the
// next process to write.
func TestAPIServerAwayAtTheEndOfTheController(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t, "--graceful-shutdown-timeout=4s"), "kept")
	u.create(ctx, held(), nil)
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")

	u.stopAPIServer()
	u.release()
	result := u.s.Path("data", "runs", recorded.ID, "result.json")
	u.Eventually(result).Should(BeAnExistingFile(), "the run ends")
	u.Expect(u.s.Controller.Stop()).To(Succeed())
	u.Expect(u.count(cloud.Create, cloud.Done, "slow")).To(Equal(1), "it was finished")
	u.Expect(result).To(BeAnExistingFile(), "it is kept")
	u.Expect(u.s.ControlPlane.StartAPIServer(ctx)).To(Succeed())
	u.Expect(u.stack(ctx).Status.Run).To(HaveField("ID", recorded.ID))

	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitCurrent(ctx)
	u.Expect(u.stack(ctx).Status.LastUpdate.Name).To(Equal(recorded.ID), "no other run was made")
	u.checkExact()
}

// stopAPIServer returns when the API server is gone. It kills it: a graceful stop would
// wait for the watches of the controller.
func (u *subject) stopAPIServer() { u.Expect(u.s.ControlPlane.KillAPIServer()).To(Succeed()) }

// A destroy ends while the API server is away, and then the controller is lost with its disk: nothing but the empty stack can say
// that the destroy deleted everything.
func TestDestroyThatNobodyHearsOf(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, startAlone(t), "unheard")
	u.create(ctx, append(quick(1, "one"), thing{name: "slow", value: "one", hold: cloud.Delete}), nil)
	u.awaitCurrent(ctx)
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.awaitStarted(ctx, cloud.Delete, "slow")
	u.stopAPIServer()
	u.release()
	u.Eventually(func() []int { return u.processes("") }).Should(BeEmpty())
	u.Expect(u.count(cloud.Delete, cloud.Done, "slow")).To(Equal(1))
	u.Expect(u.s.Controller.Kill()).To(Succeed())
	u.Expect(u.s.ControlPlane.StartAPIServer(ctx)).To(Succeed())
	u.loseController()
	u.awaitGone(ctx)
	u.checkDestroyed()
}
