// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"fmt"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// queueJobs suspends each new Job of the namespace, like the webhook of a queue.
func (t *team) queueJobs() {
	t.test.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: t.namespace},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: t.namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
				}}},
			},
			Mutations: []admissionv1.Mutation{{
				PatchType:          admissionv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: "Object{spec: Object.spec{suspend: true}}"},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: t.namespace},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: t.namespace},
	}
	for _, object := range []client.Object{policy, binding} {
		t.Expect(t.Client().Create(t.ctx, object)).To(Succeed())
	}
	t.Eventually(func(g Gomega) {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: "asked"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "a", Image: "a"}}},
		}}}
		g.Expect(t.Client().Create(t.ctx, job, client.DryRunAll)).To(Succeed())
		g.Expect(job.Spec.Suspend).To(HaveValue(BeTrue()), "the API server has taken note of the policy")
	}).Should(Succeed())
}

func TestJobsInAQueueLeaveTheirSlotsToOthers(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.queueJobs()
	var all []*v1.Stack
	for i := range perNamespace + 1 {
		name := fmt.Sprintf("app-%d", i)
		u.program(name, thing("one"))
		all = append(all, u.stack(name))
	}
	for _, stack := range all {
		u.await(stack, func(g Gomega, s *v1.Stack) {
			g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(ContainSubstring("is suspended: its pod is created once its spec.suspend is false"))
		})
	}
	withdrawn := all[0].Status.Run.Job
	edit(u, all[0], func(s *v1.Stack) { s.Spec.Suspend = true })
	u.await(all[0], func(g Gomega, s *v1.Stack) { g.Expect(s.Status.Run).To(BeNil(), "nothing has started it") })
	u.Expect(all[0].Status.LastUpdate.Message).To(ContainSubstring("withdrawn: the Stack was edited"))
	edit(u, all[0], func(s *v1.Stack) { s.Spec.Suspend = false })
	u.await(all[0], func(g Gomega, s *v1.Stack) { g.Expect(s.Status.Run).NotTo(BeNil()) })

	var jobs []batchv1.Job
	u.Eventually(func(g Gomega) {
		jobs = u.jobs()
		g.Expect(jobs).To(And(HaveLen(len(all)), Not(ContainElement(HaveField("Name", withdrawn)))))
	}).Should(Succeed())
	for i := range jobs {
		edit(u, &jobs[i], func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(false) })
	}
	for _, stack := range all {
		u.awaitReady(stack, "one")
	}
	u.Expect(u.jobs()).To(HaveLen(len(all)), "those that were held have gone on")
}
