// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"syscall"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/process"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

const leaseName = "pulumi-controller-leader-election"

// leaderElection returns the flags for a lease that expires fast, but not merely because
// the machine is slow.
func leaderElection() []string {
	return []string{"--enable-leader-election", "--leader-election-lease-duration=15s",
		"--leader-election-renew-deadline=12s", "--leader-election-retry-period=1s"}
}

// leaders starts two controllers, the first of which leads.
func leaders(t *testing.T, name string) (u *subject, another *process.Process) {
	s := start(t, append(leaderElection(), "--cancel-grace=2m", "--graceful-shutdown-timeout=4m")...)
	u = newSubject(t, s, name)
	u.Eventually(func() string { return u.leader(t.Context()) }).ShouldNot(BeEmpty())
	another, err := s.StartAnother()
	u.Expect(err).NotTo(HaveOccurred())
	return u, another
}

// leader is the holder of the lease.
func (u *subject) leader(ctx context.Context) string {
	lease := &coordinationv1.Lease{}
	err := u.s.Get(ctx, client.ObjectKey{Namespace: u.s.RuntimeNamespace(), Name: leaseName}, lease)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// awaitLeader waits until a process on the host holds the lease.
func (u *subject) awaitLeader(ctx context.Context, host string) {
	u.Eventually(func() string { return u.leader(ctx) }).Should(HavePrefix(host+"_"), u.report(ctx))
}

// watchRuns calls seen with each state of the Stack until ctx is done.
func (u *subject) watchRuns(ctx context.Context, seen func(*v1.Stack)) {
	watching, err := u.s.Watch(ctx, &v1.StackList{}, client.InNamespace(u.s.RuntimeNamespace()))
	u.Expect(err).NotTo(HaveOccurred())
	go func() {
		for event := range watching.ResultChan() {
			if stack, ok := event.Object.(*v1.Stack); ok && stack.Name == u.name {
				seen(stack)
			}
		}
	}()
}

// A leader that loses its lease stops its run gently and writes the result, and the next
// leader runs nothing for the Stack before that.
func TestLostLeaseStopsTheRunGently(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u, another := leaders(t, "lease")
	history := make(chan *v1.Stack, 1000)
	u.watchRuns(ctx, func(stack *v1.Stack) { history <- stack })
	u.create(ctx, append(held(), thing{name: "after", value: "one", after: "slow"}), nil)
	first := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")

	u.takeLease(ctx)
	u.awaitToldToStop()
	u.release()
	u.Eventually(u.s.Controller.Done()).Should(BeClosed(), "a controller ends with its lease")
	stack := u.stack(ctx)
	u.Expect(u.count(cloud.Create, cloud.Done, "slow")).To(Equal(1), "its run was stopped gently")
	if stack.Status.Run != nil {
		u.Expect(stack.Status.Run.ID).NotTo(Equal(first.ID), "its result is written")
	}
	u.awaitCurrent(ctx)
	u.checkExact()
	u.Expect(another.Done()).NotTo(BeClosed())
	u.checkHistory(history, first)
}

// takeLease makes someone else hold the lease until it expires.
func (u *subject) takeLease(ctx context.Context) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: u.s.RuntimeNamespace(), Name: leaseName}}
	thief := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"holderIdentity":"somebody-else"}}`))
	u.Expect(u.s.Patch(ctx, lease, thief)).To(Succeed())
}

// checkHistory checks that the first run was absorbed as cancelled, and that no other run
// was recorded before that.
func (u *subject) checkHistory(history <-chan *v1.Stack, first v1.RunStatus) {
	absorbed := false
	for len(history) > 0 {
		stack := <-history
		recorded := stack.Status.Run
		if recorded != nil && recorded.ID != first.ID {
			u.Expect(absorbed).To(BeTrue(), "another run was recorded before the result of the first was")
		}
		if last := stack.Status.LastUpdate; last != nil && last.Name == first.ID {
			absorbed = true
			u.Expect(last.Reason).To(Equal(v1.RunCancelledReason))
		}
	}
	u.Expect(absorbed).To(BeTrue(), "the result of the first run was written")
}

// A leader that is frozen for longer than its lease may still be alive: the next leader
// leaves its run alone.
func TestLeaderThatStandsStillKeepsItsRun(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u, _ := leaders(t, "still")
	u.create(ctx, held(), nil)
	first := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")
	before := u.leader(ctx)

	u.Expect(syscall.Kill(u.s.Controller.PID(), syscall.SIGSTOP)).To(Succeed())
	u.release()
	u.Eventually(func() string { return u.leader(ctx) }).ShouldNot(Equal(before), "the other one leads")
	u.Consistently(func(g Gomega) {
		g.Expect(u.stack(ctx).Status.Run).To(HaveField("ID", first.ID))
	}, "5s").Should(Succeed(), "the run is left alone")
	u.Expect(syscall.Kill(u.s.Controller.PID(), syscall.SIGCONT)).To(Succeed())
	u.Eventually(u.s.Controller.Done()).Should(BeClosed(), "a controller ends with its lease")

	u.awaitCurrent(ctx)
	u.Expect(conditions.GetReason(u.stack(ctx), meta.ReadyCondition)).To(Equal(meta.ReconciliationSucceededReason))
	u.checkExact()
}
