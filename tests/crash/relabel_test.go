// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/retry"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
)

// shard assigns the Stack to the controller that watches the label.
func (u *subject) shard(ctx context.Context, name string) {
	u.Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stack := u.stack(ctx)
		stack.Labels = map[string]string{"shard": name}
		return u.s.Update(ctx, stack)
	})).To(Succeed())
}

// A Stack is moved to another controller in mid-update, and then its provider dies. The
// controller that has the run records what became of it.
func TestStackThatIsRelabelledInMidUpdate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t, "--watch-label-selector=shard=one"), "relabelled")
	u.create(ctx, held(), func(stack *v1.Stack) { stack.Labels = map[string]string{"shard": "one"} })
	recorded := u.awaitRun(ctx, v1.OperationUpdate)
	u.awaitStarted(ctx, cloud.Create, "slow")
	u.shard(ctx, "two")
	u.killAll("pulumi-resource-lab")
	u.Eventually(func() *v1.RunStatus { return u.stack(ctx).Status.Run }).Should(BeNil(), u.report(ctx))
	stack := u.stack(ctx)
	u.Expect(stack.Status.LastUpdate.Name).To(Equal(recorded.ID))
	u.Expect(stack.Status.UnknownCreates).To(HaveLen(1), u.report(ctx))

	u.shard(ctx, "one")
	u.awaitReason(ctx, v1.PendingOperationsReason)
	u.Expect(u.count(cloud.Create, cloud.Begin, "slow")).To(Equal(1), "it is not started again before a person has answered")
}
