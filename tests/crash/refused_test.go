// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// refuse has the API server refuse each status of the Stack of which the expression does not hold.
func (u *subject) refuse(ctx context.Context, expression string) {
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: u.name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{v1.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"stacks/status"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "object.metadata.name != '" + u.name + "' || " + expression, Message: "no such status"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: u.name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: u.name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	for _, object := range []client.Object{policy, binding} {
		u.Expect(u.s.Create(ctx, object)).To(Succeed())
	}
}

// A policy of the cluster wants no backend in a status. A Stack that has it is not one that never ran.
func TestStatusWithTheBackendThatIsRefused(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	ctx := t.Context()
	u := newSubject(t, start(t), "refused")
	u.create(ctx, nil, func(stack *v1.Stack) { stack.Spec.Suspend = true })
	u.refuse(ctx, "!has(object.status.projectInfo) || !has(object.status.projectInfo.backend)")
	u.Eventually(func() error {
		probe := u.stack(ctx)
		probe.Status.ProjectInfo = &v1.ProjectInfo{Backend: "file:///state"}
		return u.s.Status().Update(ctx, probe, client.DryRunAll)
	}).Should(MatchError(ContainSubstring("no such status")))
	u.edit(ctx, quick(2, "one"))
	u.configure(ctx, func(spec *v1.StackSpec) { spec.Suspend = false })
	u.awaitCurrent(ctx)

	u.unmount()
	u.Expect(u.s.Delete(ctx, u.stack(ctx))).To(Succeed())
	u.Expect(u.awaitReason(ctx, v1.DestroyFailedReason)).To(ContainSubstring("restore its state"))
	u.mount()
	u.awaitGone(ctx)
	u.checkDestroyed()
}
