// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// A Stack of the Pulumi operator arrives without the variable that named its backend.
// Only its status shows that it was updated.
func TestMovedStackThatIsNotInItsBackend(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "moved")
	u.Expect(u.s.Controller.Stop()).To(Succeed())
	u.create(ctx, quick(1, "one"), func(stack *v1.Stack) { stack.Finalizers = []string{v1.StackFinalizer} })
	stack := u.stack(ctx)
	stack.Status.LastUpdate = &v1.LastUpdate{State: v1.UpdateSucceeded, Type: v1.UpdateTypeUp,
		LastSuccessfulCommit: "0123456789012345678901234567890123456789", LastResyncTime: &metav1.Time{Time: time.Now()}}
	u.Expect(u.s.Status().Update(ctx, stack)).To(Succeed())
	u.Expect(u.s.StartController()).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.UpdateFailedReason)).To(ContainSubstring("set spec.backend"))

	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.RecoveryFailedReason)).To(ContainSubstring("set spec.destroyOnFinalize to false"))
	found, err := u.cloud().Things()
	u.Expect(err).NotTo(HaveOccurred())
	u.Expect(found).To(BeEmpty(), "nothing is made a second time")
	u.configure(ctx, func(spec *v1.StackSpec) { spec.DestroyOnFinalize = false })
	u.awaitGone(ctx)
}

// A Stack of the Pulumi operator that is in its backend is deleted, and its controller
// dies during the destroy, with its data directory. The check that the stack must exist
// does not block the destroy of one that was found before.
func TestMovedStackIsDestroyedWhateverDies(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "moved-on")
	u.create(ctx, []thing{{name: "slow", value: "one", hold: cloud.Delete}}, nil)
	u.awaitCurrent(ctx)
	u.Expect(u.s.Controller.Stop()).To(Succeed())
	stack := u.stack(ctx)
	stack.Status = v1.StackStatus{LastUpdate: &v1.LastUpdate{State: v1.UpdateSucceeded, Type: v1.UpdateTypeUp,
		LastResyncTime: &metav1.Time{Time: time.Now()}}}
	u.Expect(u.s.Status().Update(ctx, stack)).To(Succeed())
	u.Expect(u.s.Delete(ctx, stack)).To(Succeed())
	u.Expect(u.s.StartController()).To(Succeed())
	u.awaitStarted(ctx, cloud.Delete, "slow")
	u.loseController()
	u.release()
	u.awaitGone(ctx)
	u.checkDestroyed()
}
