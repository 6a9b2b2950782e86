// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/run/job/exchange"
)

// inOrder are the kinds created for a run, in order.
var inOrder = []string{"*v1.Secret", "*v1.ServiceAccount", "*v1.Role", "*v1.RoleBinding", "*v1.Job"}

func TestTheJobIsCreatedLast(t *testing.T) {
	s := start(t)
	s.Expect(s.Report(ref("1")).Progress.Waiting).To(Equal("Job pulumi-run-1 is being created"))
	s.step()
	s.Expect(s.api.created).To(Equal(inOrder))
	s.Expect(s.phase()).To(Equal(run.Running))
	role := &metav1.PartialObjectMetadata{}
	role.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	s.Expect(s.has(role)).To(BeTrue())
	s.Expect(role.OwnerReferences).To(ConsistOf(HaveField("Kind", "Secret")), "the Secret owns it")
}

// once fails the first creation of the kind with err.
func once(kind string, err error) func(client.Object) error {
	return func(object client.Object) error {
		if typeName(object) != kind || err == nil {
			return nil
		}
		answer := err
		err = nil
		return answer
	}
}

func TestAnInterruptedCreationIsCompleted(t *testing.T) {
	for _, kind := range inOrder {
		for name, fail := range map[string]func(c *cluster, by func(client.Object) error){
			"creation fails": func(c *cluster, by func(client.Object) error) { c.fails = by },
			"response lost":  func(c *cluster, by func(client.Object) error) { c.lost = by },
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := start(t)
				fail(s.api, once(kind, errors.New("connection reset")))
				_, err := s.reconcile(t.Context(), s.key)
				s.Expect(err).To(MatchError(ContainSubstring("connection reset")))
				s.Expect(s.phase()).To(Equal(run.Running))
				s.step()
				s.Expect(s.api.created).To(Equal(inOrder), "each is created once")
				s.Expect(s.get(s.key).todo).To(BeNil())
				s.Expect(s.phase()).To(Equal(run.Running))
			})
		}
	}
}

// ending is the error of a creation in a terminating namespace.
var ending = &apierrors.StatusError{ErrStatus: metav1.Status{
	Reason: metav1.StatusReasonForbidden, Code: 403, Message: "secrets \"x\" is forbidden: unable to create new content in namespace default because it is being terminated",
	Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
}}

func TestWhetherANamespaceIsTerminating(t *testing.T) {
	for name, tc := range map[string]struct {
		answer error
		ends   bool
		fails  bool
	}{
		"active":                 {nil, false, false},
		"terminating":            {ending, true, false},
		"quota exceeded":         {apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("exceeded quota: small")), false, false},
		"API server unreachable": {errors.New("connection refused"), false, true},
		"API server too busy":    {apierrors.NewTooManyRequests("later", 1), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := runnerOn(t, newCluster())
			s.api.fails = func(client.Object) error { return tc.answer }
			ends, err := s.NamespaceEnds(t.Context(), "default")
			s.Expect(ends).To(Equal(tc.ends))
			s.Expect(err != nil).To(Equal(tc.fails), "%v", err)
		})
	}
}

func TestAnInvalidPodIsBlamedOnTheSpec(t *testing.T) {
	pod, job := corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), batchv1.SchemeGroupVersion.WithKind("Job").GroupKind()
	role := rbacv1.SchemeGroupVersion.WithKind("Role").GroupKind()
	faults := field.ErrorList{field.NotSupported(field.NewPath("spec", "dnsPolicy"), "Any", []string{"Default"})}
	policy := apierrors.NewInvalid(pod, "x", nil)
	policy.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "ValidatingAdmissionPolicy 'x' denied request"}}
	const template = `{"spec":{"podTemplate":{"spec":{"dnsPolicy":"Any"}}}}`
	for name, tc := range map[string]struct {
		template       string
		tried, created error
		want           run.Outcome
	}{
		"the pod":                     {template: template, tried: apierrors.NewInvalid(pod, "x", faults), want: run.InvalidSpec},
		"the pod, without a template": {tried: apierrors.NewInvalid(pod, "x", faults), want: run.PodFailed},
		"the Job":                     {template: template, created: apierrors.NewInvalid(job, "x", faults), want: run.InvalidSpec},
		"the pod, denied by a policy": {template: template, tried: policy, want: run.PodFailed},
		"another object":              {template: template, created: apierrors.NewInvalid(role, "x", faults), want: run.PodFailed},
		"no permission":               {template: template, tried: apierrors.NewForbidden(corev1.Resource("pods"), "x", errors.New("no")), want: run.PodFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := runnerOn(t, newCluster())
			s.Expect(s.Reserve("default", "app")).To(BeTrue())
			todo := oneRun("1", "app")
			todo.Workspace = json.RawMessage(tc.template)
			s.Expect(s.Start(todo)).To(Succeed())
			s.api.tried, s.api.fails = tc.tried, once("*v1.Job", tc.created)
			s.step()
			s.Expect(s.ended().Outcome).To(Equal(tc.want))
			if tc.want == run.InvalidSpec {
				s.Expect(s.ended().Message).To(And(HavePrefix("spec.workspaceTemplate, or what LimitRanges and webhooks add to it, results in an invalid pod: failed to create "), ContainSubstring("spec.dnsPolicy")))
			}
		})
	}
}

func TestAnInvalidPodMayComeFromTheDefaults(t *testing.T) {
	pod := corev1.SchemeGroupVersion.WithKind("Pod").GroupKind()
	faults := field.ErrorList{field.Invalid(field.NewPath("spec", "containers"), "2Gi", "must be less than or equal to memory limit")}
	for name, tc := range map[string]struct {
		template, want string
	}{
		"without a template": {"", "what --runner-workspace-template, LimitRanges and webhooks add to the pod is invalid: failed to create "},
		"with a template": {`{"spec":{"image":"own:1"}}`,
			"spec.workspaceTemplate, or what --runner-workspace-template, LimitRanges and webhooks add to it, results in an invalid pod: failed to create "},
	} {
		t.Run(name, func(t *testing.T) {
			s := runnerOn(t, newCluster(), func(o *Options) {
				o.Settings = withDefaults(t, "spec: {resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}}")
			})
			s.Expect(s.Reserve("default", "app")).To(BeTrue())
			todo := oneRun("1", "app")
			todo.Workspace = json.RawMessage(tc.template)
			s.Expect(s.Start(todo)).To(Succeed())
			s.api.tried = apierrors.NewInvalid(pod, "x", faults)
			s.step()
			s.Expect(s.ended().Message).To(HavePrefix(tc.want))
		})
	}
}

func TestARefusedCreationEndsTheRun(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("things"), "x", errors.New("exceeded quota: small"))
	for name, tc := range map[string]struct {
		kind   string
		err    error
		secret bool
	}{
		"the Secret":            {"*v1.Secret", forbidden, false},
		"the Role":              {"*v1.Role", forbidden, true},
		"the Job":               {"*v1.Job", forbidden, true},
		"the pod":               {"", forbidden, true},
		"namespace not found":   {"*v1.Secret", apierrors.NewNotFound(corev1.Resource("namespaces"), "default"), false},
		"namespace terminating": {"*v1.Role", ending, true},
		"denied by a webhook":   {"*v1.Job", apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Job").GroupKind(), "exceeded quota", nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			if tc.kind == "" {
				s.api.tried = tc.err
			}
			s.api.fails = func(object client.Object) error {
				if typeName(object) == tc.kind {
					return tc.err
				}
				return nil
			}
			s.step()
			ended := s.ended()
			s.Expect(ended.Outcome).To(Equal(run.PodFailed))
			s.Expect(ended.Interrupted).To(BeFalse())
			if tc.err == ending {
				s.Expect(ended.Message).To(Equal("namespace default is being deleted, so no Job can be created in it"))
			} else {
				s.Expect(ended.Message).To(HavePrefix("failed to create "))
			}
			s.Expect(s.hasJob()).To(BeFalse())
			s.Expect(s.has(&corev1.Secret{})).To(Equal(tc.secret))
			if tc.secret {
				s.Expect(s.secret().Data).To(And(HaveKey(exchange.ResultKey), Not(HaveKey(exchange.RunKey))))
			}
			s.Expect(s.Reserve("default", "other")).To(BeTrue(), "its slot is free")
		})
	}
}

func TestAWebhookWithoutDryRunIsLeftForTheRealPod(t *testing.T) {
	s := start(t)
	s.api.tried = apierrors.NewBadRequest("admission webhook does not support dry run")
	s.step()
	s.Expect(s.hasJob()).To(BeTrue())
	s.Expect(s.phase()).To(Equal(run.Running))
}

func TestAPodThatClaimsTheRunMeanwhileKeepsIt(t *testing.T) {
	s := start(t)
	s.api.lost = func(object client.Object) error {
		if typeName(object) != "*v1.Job" {
			return nil
		}
		s.claim()
		s.api.lost = nil
		return apierrors.NewForbidden(corev1.Resource("jobs"), "x", errors.New("an answer of another server"))
	}
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(HaveOccurred(), "it cannot be given up any more")
	s.Expect(s.phase()).To(Equal(run.Running))
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.hasJob()).To(BeTrue())
}

func TestAClaimedRunSurvivesARefusedRetry(t *testing.T) {
	full := apierrors.NewForbidden(corev1.Resource("things"), "x", errors.New("exceeded quota: small"))
	for name, refuse := range map[string]func(c *cluster){
		"the pod":    func(c *cluster) { c.tried = full },
		"the Job":    func(c *cluster) { c.fails = once("*v1.Job", full) },
		"the Secret": func(c *cluster) { c.fails = once("*v1.Secret", full) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.api.lost = once("*v1.Job", errors.New("connection reset"))
			_, err := s.reconcile(t.Context(), s.key)
			s.Expect(err).To(HaveOccurred())
			s.pod(atWork)
			s.claim()
			refuse(s.api)
			s.step()
			s.Expect(s.phase()).To(Equal(run.Running))
			s.Expect(s.hasJob()).To(BeTrue())
			s.Expect(s.Reserve("default", "other")).To(BeFalse())
			s.write(run.Result{Outcome: run.Succeeded})
			s.step()
			s.Expect(s.ended().Outcome).To(Equal(run.Succeeded))
		})
	}
}

func TestARetryUsesTheExistingSecretWhereASecondIsRefused(t *testing.T) {
	s := start(t)
	s.api.lost = once("*v1.Secret", errors.New("connection reset"))
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(HaveOccurred())
	s.api.fails = once("*v1.Secret", apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("exceeded quota: small")))
	s.step()
	s.Expect(s.api.created).To(Equal(inOrder))
	s.Expect(s.phase()).To(Equal(run.Running))
}

func TestARefusedSecretThatCannotBeReadIsRetried(t *testing.T) {
	s := start(t)
	s.api.fails = once("*v1.Secret", apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("exceeded quota: small")))
	s.api.unreadable = apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("no"))
	_, err := s.reconcile(t.Context(), s.key)
	s.Expect(err).To(MatchError(ContainSubstring("reading Secret default/pulumi-run-1")))
	s.api.unreadable = nil
	s.step()
	s.Expect(s.phase()).To(Equal(run.Running))
	s.Expect(s.hasJob()).To(BeTrue())
}

func TestASecretOfAnotherOwnerIsLeftAlone(t *testing.T) {
	s := start(t)
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pulumi-run-1"}, Data: map[string][]byte{"a": []byte("b")}}
	s.Expect(s.api.WithWatch.Create(t.Context(), other)).To(Succeed())
	s.step()
	s.Expect(s.ended().Message).To(ContainSubstring("another Secret has that name: delete it"))
	s.Expect(s.secret().Data).To(Equal(other.Data))
	s.Expect(slices.Contains(s.api.created, "*v1.Job")).To(BeFalse())
}

func TestARunWithARejectedPodIsNotStarted(t *testing.T) {
	s := runnerOn(t, newCluster())
	todo := oneRun("1", "app")
	todo.Workspace = []byte(`{"spec":{"git":{}}}`)
	s.Expect(s.Check(todo)).To(MatchError(ContainSubstring("spec.workspaceTemplate.spec.git")))
	s.Expect(s.Reserve("default", "app")).To(BeTrue())
	s.Expect(s.Start(todo)).To(Succeed())
	s.step()
	s.Expect(s.ended().Message).To(ContainSubstring("spec.workspaceTemplate.spec.git"))
	s.Expect(s.api.created).To(BeEmpty())
}
