// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plankey"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// keyOf is the key of plans for a Stack.
func (w *world) keyOf(namespace, stack string) string {
	w.t.Helper()
	key, err := w.planKeys().Of(w.t.Context(), namespace, stack)
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	return key
}

func TestAKeyOfPlansThatIsNoneIsRefused(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.Namespace = "flux-system"
	short := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "pulumi-controller-plan-key"}}
	g.Expect(w.Create(t.Context(), short)).To(Succeed())
	w.mustReconcile()
	stack := w.stack()
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.InputsFailedReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(
		`no key of plans: the Secret flux-system/pulumi-controller-plan-key has none of 32 bytes in "key": delete it, and the controller creates another`))
	g.Expect(w.events.lines).To(ConsistOf(HavePrefix("Warning InputsFailed no key of plans")))
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Finalizers).To(BeEmpty())
	g.Expect(w.runner.slots).To(BeZero())

	w.edit(asksForPreview("one"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Preview).To(HaveValue(HaveField("Message", ContainSubstring("no key of plans"))))

	g.Expect(w.Delete(t.Context(), short)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1), "and it runs with a key")
}

func TestAKeyOfPlansThatMayNotBeReadIsInTheStatus(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.Namespace = "flux-system"
	secrets := schema.GroupResource{Resource: "secrets"}
	w.APIReader = forbidding{w.Client, func(o client.Object) (schema.GroupResource, bool) { _, is := o.(*corev1.Secret); return secrets, is }}
	w.mustReconcile()
	stack := w.stack()
	g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(v1.InputsFailedReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(And(
		HavePrefix("failed to get the key of plans in Secret flux-system/pulumi-controller-plan-key: "), HaveSuffix(": let the controller get and create this Secret")))
	g.Expect(stack.Finalizers).To(BeEmpty())
	g.Expect(w.runner.slots).To(BeZero())
}

// A controller outside of the cluster may be in a namespace that is none.
func TestAKeyOfPlansWithoutItsNamespaceIsInTheStatus(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.Namespace = "flux-system"
	w.Client = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, is := object.(*corev1.Secret); is {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, w.Namespace)
			}
			return c.Create(ctx, object, options...)
		},
	})
	w.mustReconcile()
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(And(
		ContainSubstring(`namespaces "flux-system" not found`), HaveSuffix("set the environment variable RUNTIME_NAMESPACE of the controller to another one")))
}

// What was approved with the key before is not what is compared with the key of now.
func TestAPlanIsProposedAgainWithAnotherKey(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.Namespace = "flux-system"
	w.mustReconcile()
	before := w.runner.runs[w.stack().Status.Run.ID].PlanKey
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	w.annotate(v1.ApproveAnnotation, w.stack().Status.Plan.Digest)
	g.Expect(w.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "pulumi-controller-plan-key"}})).To(Succeed())
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Approved).NotTo(BeEmpty())
	g.Expect(todo.PlanKey).NotTo(Or(BeEmpty(), Equal(before)))

	w.endWith(run.PlanChanged, planOf(plan.OpCreate, "b")) // the same change with other digests
	g.Expect(w.stack().Status.Plan).To(HaveField("State", v1.PlanProposed))
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2))
}

func TestTheKeyOfPlansIsReadOnceForARun(t *testing.T) {
	g := NewWithT(t)
	w := approvalWorld(t, v1.ApprovalAlways)
	w.Namespace = "flux-system"
	w.keyOf("apps", "dev")
	reads := 0
	w.APIReader = interceptor.NewClient(w.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if at.Name == plankey.SecretName {
				reads++
			}
			return c.Get(ctx, at, object, options...)
		},
	})
	w.mustReconcile()
	g.Expect(reads).To(Equal(1))
	w.endWith(run.Succeeded, planOf(plan.OpCreate, "a"))
	w.annotate(v1.ApproveAnnotation, w.stack().Status.Plan.Digest)
	w.mustReconcile()
	w.endWith(run.Succeeded, nil)
	w.edit(asksForPreview("one"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("PreviewRequest", "one"))
	g.Expect(reads).To(Equal(w.runner.started))
}

// A run that makes no plan needs no key, and costs no request for it.
func TestOnlyRunsWithAPlanGetAKey(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].PlanKey).To(BeEmpty())
	secrets := &corev1.SecretList{}
	g.Expect(w.List(t.Context(), secrets)).To(Succeed())
	g.Expect(secrets.Items).To(BeEmpty())
}
