// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

// testAccounts has all service accounts, or none.
type testAccounts struct {
	err   error
	asked []run.ServiceAccount
}

func (a *testAccounts) Check(_ context.Context, account run.ServiceAccount) error {
	a.asked = append(a.asked, account)
	return a.err
}

// accountWorld has a Stack whose service account is missing.
func accountWorld(t *testing.T) (*world, *testAccounts) {
	t.Helper()
	w := optionsWorld(t, func(s *v1.StackSpec) { s.ServiceAccountName = "deployer" })
	accounts := &testAccounts{err: errors.New("service account 'default/deployer' not found")}
	w.Accounts = accounts
	return w, accounts
}

func TestNoRunStartsWithoutItsAccount(t *testing.T) {
	g := NewWithT(t)
	w, accounts := accountWorld(t)
	result := w.mustReconcile()
	stack := w.stack()
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(w.runner.slots).To(BeZero(), "no slot is taken from others")
	g.Expect(stack.Finalizers).To(BeEmpty())
	g.Expect(conditions.IsFalse(stack, meta.ReadyCondition)).To(BeTrue())
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))
	g.Expect(conditions.GetReason(stack, meta.ReconcilingCondition)).To(Equal(meta.ProgressingWithRetryReason))
	g.Expect(result.RequeueAfter).To(Equal(10 * time.Second))
	g.Expect(w.events.lines).To(ConsistOf("Warning ServiceAccountFailed service account 'default/deployer' not found"))

	writes := w.writes
	for range 5 {
		w.mustReconcile()
	}
	g.Expect(w.writes).To(Equal(writes), "nothing is written when nothing has changed")
	g.Expect(w.events.lines).To(HaveLen(1))

	accounts.err = nil
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
}

func TestAPreviewWithoutItsAccountIsRefused(t *testing.T) {
	g := NewWithT(t)
	w, accounts := accountWorld(t)
	missing := accounts.err
	accounts.err = nil
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()

	accounts.err = missing
	w.edit(asksForPreview("one"))
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1))
	g.Expect(w.stack().Status.Preview).To(HaveValue(HaveField("Message", "ServiceAccountFailed: service account 'default/deployer' not found")))
}

func TestTheAccountIsCheckedOnlyWhenARunIsDue(t *testing.T) {
	g := NewWithT(t)
	w, accounts := accountWorld(t)
	accounts.err = nil
	w.mustReconcile()
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	w.mustReconcile()
	g.Expect(accounts.asked).To(Equal([]run.ServiceAccount{{Namespace: "default", Name: "deployer"}}))
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
}

func TestARequestWaitsForTheAccount(t *testing.T) {
	g := NewWithT(t)
	w, accounts := accountWorld(t)
	accounts.err = nil
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})

	accounts.err = errors.New("service account 'default/deployer' not found")
	w.edit(force("x"))
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("x"))
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))

	accounts.err = nil
	w.mustReconcile()
	w.expectForcedRun(g, "the account is there")
	w.expectDone(g)
}

func TestADestroyDoesNotStartWithoutTheAccount(t *testing.T) {
	g := NewWithT(t)
	w, accounts := accountWorld(t)
	accounts.err = nil
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})

	accounts.err = errors.New("service account 'default/deployer' not found")
	g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
	g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10 * time.Second))
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))

	accounts.err = nil
	w.mustReconcile()
	g.Expect(w.stack().Status.Run.Operation).To(Equal(v1.OperationDestroy))
}

func TestARecoveryDoesNotStartWithoutTheAccount(t *testing.T) {
	g := NewWithT(t)
	w, accounts := accountWorld(t)
	missing := accounts.err
	accounts.err = nil
	w.nextRun()
	w.endNow(run.Failed, byForce)
	g.Expect(w.Delete(t.Context(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())

	accounts.err = missing
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it needs no program, but the account")
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))

	accounts.err = nil
	g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
}

func TestAHiccupDoesNotReleaseAnInterruptedStack(t *testing.T) {
	// interrupted has such a Stack, which is deleted while tokens cannot be made.
	interrupted := func(t *testing.T) (*world, *testAccounts) {
		w, accounts := accountWorld(t)
		w.change(func(spec *v1.StackSpec) {
			spec.DestroyOnFinalize, spec.RetryInterval = false, &metav1.Duration{Duration: time.Minute}
		})
		accounts.err = nil
		w.nextRun()
		w.endNow(run.Failed, byForce)
		accounts.err = errors.New("creating a token for service account 'default/deployer': the server was unable to return a response in the time allotted")
		NewWithT(t).Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
		return w, accounts
	}
	t.Run("that passes", func(t *testing.T) {
		g := NewWithT(t)
		w, accounts := interrupted(t)
		g.Expect(w.mustReconcile().RequeueAfter).To(Equal(10 * time.Second))
		g.Expect(w.deleted()).To(BeFalse())
		g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.ServiceAccountFailedReason))

		accounts.err = nil
		g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
		w.endNow(run.Succeeded, nil)
		w.mustReconcile()
		g.Expect(w.deleted()).To(BeTrue())
	})
	t.Run("after the same fault of before the deletion", func(t *testing.T) {
		g := NewWithT(t)
		stack := &v1.Stack{}
		now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		stack.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionFalse,
			Reason: v1.ServiceAccountFailedReason, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
		g.Expect(stackstatus.NotReadySince(stack, v1.ServiceAccountFailedReason, now)).To(Equal(now.Add(-time.Hour)))
		stack.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Second)}
		g.Expect(stackstatus.NotReadySince(stack, v1.ServiceAccountFailedReason, now)).To(Equal(now.Add(-time.Second)))
	})
	t.Run("that lasts", func(t *testing.T) {
		g := NewWithT(t)
		w, accounts := interrupted(t)
		w.mustReconcile()
		since := conditions.Get(w.stack(), meta.ReadyCondition).LastTransitionTime
		g.Eventually(func() bool { return time.Now().Truncate(time.Second).After(since.Time) }, "5s").Should(BeTrue())
		accounts.err = errors.New("creating a token for service account 'default/deployer': read tcp 10.0.0.1:40002: connection reset")
		w.mustReconcile()
		g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("40002"))
		g.Expect(conditions.Get(w.stack(), meta.ReadyCondition).LastTransitionTime).To(Equal(since), "another text is no other fault")
		// The time of the condition is that of the machine.
		w.Now = func() time.Time { return time.Now().Add(2 * time.Minute) }
		w.mustReconcile()
		g.Expect(w.deleted()).To(BeTrue())
		g.Expect(w.events.lines).To(ContainElement(HavePrefix("Warning RunInterrupted The Stack was released without a recovery")))
	})
}
