// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

func TestALimitRangeThatAsksForMoreIsMet(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.Expect(u.Client().Create(u.ctx, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "least"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type:           corev1.LimitTypeContainer,
			DefaultRequest: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
			Min:            corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		}}},
	})).To(Succeed())
	u.Eventually(func(g Gomega) {
		g.Expect(u.askForPod("32Mi")).To(MatchError(ContainSubstring("minimum memory usage")), "the API server has taken note of it")
	}).Should(Succeed())
	u.program("app", thing("one"))
	stack := u.stack("app")
	u.awaitMessage(stack, v1.PodFailedReason, "minimum memory usage per Container is 64Mi, but request is 32Mi")
	edit(u, stack, func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = u.podWith(nil, map[string]any{"initContainers": []any{
			map[string]any{"name": "bootstrap", "resources": map[string]any{"requests": map[string]any{"memory": "64Mi"}}},
		}})
	})
	u.awaitReady(stack, "one")
}

// Such a policy rejects pods that nothing would recreate, and accepts those of a Job.
func TestAPolicyAgainstPodsWithoutAnOwnerLetsRunsBe(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.refuseBarePods()
	u.program("app", thing("one"))
	u.awaitReady(u.stack("app"), "one")
	u.Expect(u.askForPod("32Mi")).To(MatchError(ContainSubstring("no bare pods")))
}

func (t *team) refuseBarePods() {
	t.test.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: t.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: t.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			Validations: []admissionv1.Validation{{Expression: "has(object.metadata.ownerReferences)", Message: "no bare pods"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: t.namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: t.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	for _, object := range []client.Object{policy, binding} {
		t.Expect(t.Client().Create(t.ctx, object)).To(Succeed())
	}
	t.Eventually(func(g Gomega) {
		g.Expect(t.askForPod("32Mi")).To(MatchError(ContainSubstring("no bare pods")), "the API server has taken note of the policy")
	}).Should(Succeed())
}

// askForPod tries to create a pod that requests so much memory.
func (t *team) askForPod(memory string) error {
	return t.Client().Create(t.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: "asked"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
		}}}},
	}, client.DryRunAll)
}
