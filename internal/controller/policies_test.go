// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAStackRunsWithThePacksThatAreEnforced(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce), policySet("later", v1.PolicyWarn),
		policySet("others", v1.PolicyEnforce, func(set *v1.PolicySet) {
			set.Spec.StackSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}
		}))
	digest := w.stack().Status.LastAppliedDigest
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	record := w.stack().Status.Run
	todo := w.runner.runs[record.ID]
	g.Expect(todo.Operation).To(Equal(run.Update))
	g.Expect(todo.Policies).To(Equal([]run.PolicyPack{{
		Set: "guard", Name: "tags", Revision: "main@sha256:1", Artifact: run.Artifact{URL: "http://sources/guard", Digest: "sha256:1", Dir: "packs/tags"},
		Config: []byte(`{"required-tags":{"enforcementLevel":"mandatory"}}`), Enforced: true,
	}}))
	g.Expect(record.Policies.Sets).To(ConsistOf(HaveField("Name", "guard")))
	g.Expect(record.Policies.Checks).To(BeEmpty(), "a check has the other packs too")
	w.endPolicies(run.Update, run.Succeeded, "", run.Violations{})
	g.Expect(w.stack().Status.Policies).To(BeNil())
	g.Expect(w.stack().Status.LastAppliedDigest).NotTo(Equal(digest))

	w.mustReconcile()
	check := w.stack().Status.Run
	g.Expect(check).To(HaveField("Operation", run.CheckPolicies))
	g.Expect(newPacks(w.runner.runs[check.ID])).To(Equal([]string{"guard/tags@sha256:1", "later/tags@sha256:1"}))
	g.Expect(w.runner.runs[check.ID].Options).To(Equal(run.Options{}), "as it is in the state")
	before := w.stack()
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "policy required-tags", violated("later"))
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Policies).To(And(HaveField("Mandatory", BeEquivalentTo(1)), HaveField("Digest", check.Policies.Checks),
		HaveField("Sets", ConsistOf(And(HaveField("Name", "guard"), HaveField("Mandatory", BeZero())), And(HaveField("Name", "later"), HaveField("Mandatory", BeEquivalentTo(1)))))))
	g.Expect(stack.Status.Policies.Violations).To(Equal([]v1.PolicyViolation{{
		PolicySet: "later", Pack: "tags", Policy: "required-tags", Level: "mandatory", Resource: "urn:a", Message: "it has no owner",
	}}))
	g.Expect(compliant(stack)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyViolationReason),
		HaveField("Message", "1 violation of mandatory policies: later/tags/required-tags")))
	for _, kind := range []string{"Ready", "Reconciling", "Stalled"} {
		g.Expect(conditions.Get(stack, kind)).To(Equal(conditions.Get(before, kind)))
	}
	g.Expect(stack.Status.LastRun).To(Equal(before.Status.LastRun))
	g.Expect(w.events.lines[len(w.events.lines)-1]).To(Equal("Warning PolicyViolation 1 violation of mandatory policies: later/tags/required-tags\nrequired-tags: it has no owner (urn:a)"))

	writes := w.writes
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it was checked")
	g.Expect(w.writes).To(Equal(writes))
}

func TestOtherPacksLeadToACheckAndToNoUpdate(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", v1.PoliciesPassedReason)))
	events := len(w.events.lines)

	sources.set("guard", "sha256:2")
	w.mustReconcile()
	g.Expect(newPacks(w.runner.runs[w.stack().Status.Run.ID])).To(Equal([]string{"guard/tags@sha256:2"}))
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "no", violated("guard"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue(), "what it has violates the policy, but nothing is due")
	g.Expect(w.events.lines).To(HaveLen(events + 1))

	sources.set("guard", "sha256:3")
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "no", violated("guard"))
	g.Expect(w.events.lines).To(HaveLen(events+1), "the same violation is no news")

	sources.set("guard", "sha256:4")
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Failed, "the provider does not answer", run.Violations{})
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", v1.PolicyCheckFailedReason)))
	g.Expect(w.stack().Status.Policies).To(And(HaveField("Mandatory", BeEquivalentTo(1)), HaveField("Failures", BeEquivalentTo(1))))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it backs off")
	w.passTime(11 * time.Minute)
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{Advisory: map[string]int{"guard": 2}})
	g.Expect(compliant(w.stack())).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", "No mandatory policy is violated (2 violations of advisory policies)")))
	g.Expect(w.events.lines[len(w.events.lines)-1]).To(Equal("Normal PoliciesPassed No mandatory policy is violated any more"))
	g.Expect(w.runner.started).To(Equal(6), "one update")
}

func TestAnUpdateWithAllPacksIsTheCheck(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.edit(func(s *v1.Stack) { s.Spec.Refresh, s.Spec.RetryInterval = true, &metav1.Duration{Duration: time.Hour} })
	w.mustReconcile()
	checks := w.stack().Status.Run.Policies.Checks
	w.endPolicies(run.Update, run.PolicyViolation, "policy required-tags of tags: it has no owner", violated("guard"))
	stack := w.stack()
	g.Expect(conditions.Get(stack, "Ready")).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyViolationReason)))
	g.Expect(compliant(stack)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", v1.PolicyViolationReason)))
	g.Expect(stack.Status.Policies.Digest).To(And(Equal(checks), Not(BeEmpty())))
	g.Expect(w.events.lines).To(ContainElement(ContainSubstring("Update failed: policy required-tags of tags: it has no owner")))
	events := len(w.events.lines)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "the update was the check, and is not due again")
	g.Expect(w.events.lines).To(HaveLen(events))

	sources.set("guard", "sha256:2")
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.Update), "the failed update may succeed with other packs")
	w.endPolicies(run.Update, run.Succeeded, "", run.Violations{})
	g.Expect(compliant(w.stack())).To(HaveField("Status", metav1.ConditionTrue))
	g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
}

func TestPoliciesGoWithTheirPolicySets(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.PolicyViolation, "no", violated("guard"))
	g.Expect(w.Delete(context.Background(), policySet("guard", v1.PolicyEnforce))).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Policies).To(BeNil())
	g.Expect(compliant(w.stack())).To(BeNil())
	g.Expect(w.stack().Status.Run).To(BeNil())
	writes := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes))
}

// The run keeps the packs that it has started with, and what it has found does not count any longer.
func TestAPolicySetThatIsDeletedDuringARun(t *testing.T) {
	for name, operation := range map[string]run.Operation{"an update": run.Update, "a check": run.CheckPolicies} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce), policySet("other", v1.PolicyEnforce))
			w.edit(func(s *v1.Stack) { s.Spec.Refresh = operation == run.Update })
			w.mustReconcile()
			record := w.stack().Status.Run
			g.Expect(newPacks(w.runner.runs[record.ID])).To(Equal([]string{"guard/tags@sha256:1", "other/tags@sha256:1"}))
			g.Expect(w.Delete(context.Background(), policySet("guard", v1.PolicyEnforce))).To(Succeed())
			w.mustReconcile()
			g.Expect(w.stack().Status.Run).To(HaveField("ID", record.ID))
			w.endPolicies(operation, run.PolicyViolation, "policy required-tags of guard", violated("guard"))
			w.mustReconcile()
			next := w.stack().Status.Run
			g.Expect(next).To(HaveField("Operation", operation), "at once")
			g.Expect(newPacks(w.runner.runs[next.ID])).To(Equal([]string{"other/tags@sha256:1"}))
			w.endPolicies(operation, run.Succeeded, "", run.Violations{})
			w.mustReconcile()
			g.Expect(conditions.IsReady(w.stack())).To(BeTrue())
			g.Expect(w.stack().Status.Policies.Sets).To(ConsistOf(HaveField("Name", "other")))
			g.Expect(compliant(w.stack())).To(HaveField("Status", metav1.ConditionTrue))

			g.Expect(w.Delete(context.Background(), policySet("other", v1.PolicyEnforce))).To(Succeed())
			w.mustReconcile()
			g.Expect(w.stack().Status.Policies).To(BeNil())
			g.Expect(w.stack().Status.Run).To(BeNil())
		})
	}
}

func TestAPolicySetSelectsByTheLabelsOfNamespaces(t *testing.T) {
	g := NewWithT(t)
	byTeam := func(set *v1.PolicySet) {
		set.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	}
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce, byTeam))
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil(), "it could go unguarded")
	g.Expect(conditions.GetMessage(w.stack(), "Ready")).To(ContainSubstring("failed to read the labels of namespace default"))
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = false })
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	g.Expect(w.Create(context.Background(), namespace)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	namespace.Labels = map[string]string{"team": "a"}
	g.Expect(w.Update(context.Background(), namespace)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", run.CheckPolicies))
}

// Whoever may ask for a preview of a local program would otherwise run it with the credentials of the Stack, and no policy.
func TestAPreviewOfALocalProgramHasThePacks(t *testing.T) {
	g := NewWithT(t)
	w, sources := guardedWorld(t, policySet("guard", v1.PolicyEnforce), policySet("later", v1.PolicyWarn))
	w.mustReconcile()
	w.endPolicies(run.CheckPolicies, run.Succeeded, "", run.Violations{})
	ref := w.bring(localprogram.ProgramKey, []byte(broughtText))
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Operation).To(Equal(run.Preview))
	g.Expect(string(todo.Program.YAML)).To(ContainSubstring("hello from here"))
	g.Expect(newPacks(todo)).To(Equal([]string{"guard/tags@sha256:1"}))
	w.endPolicies(run.Preview, run.PolicyViolation, "policy required-tags", violated("guard"))
	g.Expect(w.stack().Status.Preview).To(And(HaveField("State", v1.UpdateFailed), HaveField("Message", ContainSubstring("required-tags"))))

	sources.set("guard", "")
	w.edit(func(s *v1.Stack) {
		asksForPreviewOf(ref.String())(s)
		s.Annotations[v1.PreviewRequestAnnotation] = "two"
	})
	started := w.runner.started
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(started), "it does not run without a pack that is enforced")
	g.Expect(w.stack().Status.Preview).To(And(HaveField("State", Not(Equal(v1.UpdateSucceeded))), HaveField("Message", ContainSubstring("pack tags of PolicySet guard"))))
}

func TestAPlanIsOfThePacksItWasMadeWith(t *testing.T) {
	g := NewWithT(t)
	plan := func(sets ...*v1.PolicySet) (planInputs, digest string) {
		w, _ := guardedWorld(t, sets...)
		w.edit(func(s *v1.Stack) { s.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}; s.Spec.Refresh = true })
		w.mustReconcile()
		record := w.stack().Status.Run
		g.Expect(record).To(HaveField("Operation", run.Propose))
		return w.runner.runs[record.ID].PlanInputs, record.Digest
	}
	without, digest := plan()
	with, same := plan(policySet("guard", v1.PolicyEnforce))
	g.Expect(with).NotTo(Equal(without))
	g.Expect(same).To(Equal(digest), "packs are no inputs")
	warned, _ := plan(policySet("guard", v1.PolicyWarn))
	g.Expect(warned).To(Equal(without), "an update does not run with these")
}

func TestPoliciesAreExplained(t *testing.T) {
	g := NewWithT(t)
	w, _ := guardedWorld(t, policySet("guard", v1.PolicyEnforce))
	explained, err := explain(w.Client, w.stack(), observe.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explained.Checks).To(ContainElement(And(HaveField("About", "policy packs"), HaveField("Found", ContainSubstring("PolicyPackFailed")))), "the plugin reads the source itself")
}
