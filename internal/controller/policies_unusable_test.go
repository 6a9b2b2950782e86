// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAPackThatIsEnforcedAndCannotBeUsed(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	sources.set("guard", "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue(), "nothing is due")
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", v1.PolicyCheckFailedReason),
		HaveField("Message", ContainSubstring("PolicyPackFailed: policy pack tags of PolicySet guard: source 'GitRepository/platform/guard' not found"))))
	w.edit(func(s *v1.Stack) {
		s.CreationTimestamp = metav1.NewTime(started)
		s.Spec.Refresh, s.Spec.Drift = true, &v1.Drift{Interval: &metav1.Duration{Duration: time.Hour}}
	})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.Get(w.stack(), "Ready")).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyPackFailedReason),
		HaveField("Message", ContainSubstring("pack tags of PolicySet guard: source 'GitRepository/platform/guard' not found"))))

	w.edit(func(s *v1.Stack) { s.Annotations = map[string]string{v1.PreviewRequestAnnotation: "now"} })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(w.stack().Status.Preview.Message).To(HavePrefix("PolicyPackFailed: policy pack tags of PolicySet guard"))

	w.passTime(66 * time.Minute)
	w.mustReconcile()
	w.endCheck(run.Succeeded, "", &run.Drift{})

	sources.set("guard", "sha256:2")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update))
	w.runner.end(w.stack().Status.Run.ID, run.Failed, "killed")
	w.runner.results[w.stack().Status.Run.ID].Interrupted = true
	w.mustReconcile()
	sources.set("guard", "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Recover))
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Policies).To(BeEmpty())
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), "Ready")).To(Equal(v1.PolicyPackFailedReason))

	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Destroy))
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Policies).To(BeEmpty())
}

func TestAnErrorOfTheAPIServerInAPackStopsNothingElse(t *testing.T) {
	for enforcement, isReady := range map[v1.PolicyEnforcement]bool{v1.PolicyEnforce: false, v1.PolicyWarn: true} {
		t.Run(string(enforcement), func(t *testing.T) {
			g := NewWithT(t)
			w, sources := guardedWorld(t, policySet("guard", enforcement))
			w.mustReconcile()
			w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
			sources.err = errors.New(`invalid resource name "a/b"`)
			w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
			result := w.mustReconcile()
			g.Expect(w.stack().Status.Run == nil).To(Equal(!isReady))
			if !isReady {
				g.Expect(conditions.Get(w.stack(), "Ready")).To(And(HaveField("Reason", v1.PolicyPackFailedReason), HaveField("Message", ContainSubstring(`pack tags of PolicySet guard: invalid resource name "a/b"`))))
				g.Expect(result.RequeueAfter).To(BeNumerically("<=", 15*time.Second), "no event says when it has passed")
				sources.err = nil
				w.mustReconcile()
				sources.err = errors.New("timeout")
			}
			record := w.stack().Status.Run
			g.Expect(record).To(HaveField("Operation", run.Update))
			w.runner.end(record.ID, run.Failed, "killed")
			w.runner.results[record.ID].Interrupted = true
			w.mustReconcile()
			w.mustReconcile()
			g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Recover))
			w.endRun(run.Succeeded, "", run.Changes{})

			w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
			w.mustReconcile()
			g.Expect(w.stack().Status.Run).To(BeNil())
		})
	}
}

func TestAConfigMapOfAPackThatMayNotBeRead(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce, configFrom))
	w.APIReader = forbidding{w.Client, aConfigMap}
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.Get(w.stack(), "Ready")).To(And(HaveField("Reason", v1.PolicyPackFailedReason),
		HaveField("Message", And(ContainSubstring("ConfigMap platform/config"), ContainSubstring("grant the controller permission to get configmaps")))))
}

func TestAPackThatIsNotEnforcedAndCannotBeUsed(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("later", v1.PolicyWarn))
	sources.set("later", "")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Message", ContainSubstring("pack tags of PolicySet later: source"))))
	g.Expect(w.runner.background.taken).To(BeZero())
	w.mustReconcile()
	g.Expect(w.stack().Status.Policies.Failures).To(BeEquivalentTo(1), "it backs off")

	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].Policies).To(BeEmpty())
	w.endPolicies(run.Update, run.Succeeded, "", run.Violations{})
	sources.set("later", "sha256:1")
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	g.Expect(compliant(w.stack())).To(HaveField("Status", metav1.ConditionTrue))
}
