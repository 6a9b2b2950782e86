// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/identity"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

const role, otherRole = "arn:aws:iam::123456789012:role/network", "arn:aws:iam::123456789012:role/other"

// identityWorld is one with a Stack whose service account may be a role of AWS.
func identityWorld(t *testing.T, gate bool, spec func(*v1.StackSpec)) (*world, *corev1.ServiceAccount) {
	w := optionsWorld(t, func(s *v1.StackSpec) {
		s.ServiceAccountName = "deployer"
		if spec != nil {
			spec(s)
		}
	})
	w.WorkloadIdentity = gate
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "deployer", Annotations: map[string]string{identity.AWSRoleAnnotation: role},
	}}
	NewWithT(t).Expect(w.Create(t.Context(), account)).To(Succeed())
	return w, account
}

func TestTheIdentityOfTheAccountReachesTheRunAndItsDigest(t *testing.T) {
	g := NewWithT(t)
	w, account := identityWorld(t, true, nil)
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Identity).To(Equal(identity.Identity{AWS: &identity.AWS{Role: role}}))
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(1), "the same identity starts no run")

	account.Annotations = map[string]string{identity.AWSRoleAnnotation: otherRole, "unrelated": "x"}
	g.Expect(w.Update(t.Context(), account)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "another one does")
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Identity.AWS.Role).To(Equal(otherRole))
}

func TestWithoutTheFeatureGateAnnotationsMeanNothing(t *testing.T) {
	g := NewWithT(t)
	w, _ := identityWorld(t, false, nil)
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Identity.IsZero()).To(BeTrue())
}

func TestADefaultAccountHasItsIdentityUnlessTheStackHasItsOwnKubeconfig(t *testing.T) {
	for name, test := range map[string]struct {
		spec func(*v1.StackSpec)
		want bool
	}{
		"a Stack that names none": {func(s *v1.StackSpec) { s.ServiceAccountName = "" }, true},
		"a Stack with its own kubeconfig": {func(s *v1.StackSpec) {
			s.ServiceAccountName = ""
			s.EnvRefs = map[string]v1.ResourceRef{"KUBECONFIG": literalRef("/mine")}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := identityWorld(t, true, test.spec)
			w.DefaultServiceAccount = "deployer"
			w.mustReconcile()
			NewWithT(t).Expect(w.runner.runs[w.stack().Status.Run.ID].Identity.IsZero()).To(Equal(!test.want))
		})
	}
}

func TestAnIdentityThatIsNotKnownStartsNoRun(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		spec        func(*v1.StackSpec)
		reason      string
		message     string
	}{
		"no such account": {nil, func(s *v1.StackSpec) { s.ServiceAccountName = "other" }, v1.ServiceAccountFailedReason,
			"service account 'default/other' not found: create it, or name another in spec.serviceAccountName"},
		"a wrong annotation": {map[string]string{identity.AWSRoleAnnotation: "network"}, nil, v1.ServiceAccountFailedReason,
			"service account 'default/deployer': the annotation eks.amazonaws.com/role-arn is not the ARN of a role"},
		"keys beside a role": {nil, func(s *v1.StackSpec) {
			s.EnvRefs = map[string]v1.ResourceRef{"AWS_ACCESS_KEY_ID": literalRef("AKIA")}
		}, v1.InputsFailedReason, "spec.envRefs.AWS_ACCESS_KEY_ID: the variable AWS_ACCESS_KEY_ID cannot be set beside the annotation " +
			"eks.amazonaws.com/role-arn of service account 'deployer', which gives the program another identity: remove one of the two"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, account := identityWorld(t, true, test.spec)
			if test.annotations != nil {
				account.Annotations = test.annotations
				g.Expect(w.Update(t.Context(), account)).To(Succeed())
			}
			w.mustReconcile()
			g.Expect(w.runner.started).To(BeZero())
			stack := w.stack()
			g.Expect(conditions.GetReason(stack, meta.ReadyCondition)).To(Equal(test.reason))
			g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring(test.message))
			g.Expect(conditions.IsStalled(stack)).To(BeFalse(), "the account may be corrected")

			w.passTime(time.Hour)
			w.mustReconcile()
			g.Expect(w.runner.started).To(BeZero())
		})
	}
}

func TestAPreviewIsComparedWithTheIdentityOfTheStackThatItNames(t *testing.T) {
	g := NewWithT(t)
	w := pullRequestWorld(t, nil)
	w.WorkloadIdentity = true
	for _, account := range []*corev1.ServiceAccount{
		{ObjectMeta: metav1.ObjectMeta{Namespace: realKey.Namespace, Name: "deployer", Annotations: map[string]string{identity.AWSRoleAnnotation: role}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "reader", Annotations: map[string]string{identity.AWSRoleAnnotation: otherRole}}},
	} {
		g.Expect(w.Create(t.Context(), account)).To(Succeed())
	}
	preview, proposal := w.startedRun(key), w.startedRun(realKey)
	g.Expect(preview.PlanInputs).To(Equal(proposal.PlanInputs))
	g.Expect(preview.Identity.AWS.Role).To(Equal(otherRole), "it has its own")
}

func TestAnInvalidSpecIsReportedBeforeAnAccountThatIsNotThere(t *testing.T) {
	g := NewWithT(t)
	w, _ := identityWorld(t, true, func(s *v1.StackSpec) {
		s.ServiceAccountName = "other"
		s.EnvRefs = map[string]v1.ResourceRef{"KUBECONFIG": literalRef("/mine")}
	})
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(v1.InvalidSpecReason))
}
