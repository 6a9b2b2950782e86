// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/plan/details"
)

// examplePlan has one step of each kind, with this value in one of them.
func examplePlan(value string) plan.Plan {
	urn := func(name string) string { return "urn:pulumi:dev::network::lab:index:Thing::" + name }
	text := func(text string) json.RawMessage { return json.RawMessage(strconv.Quote(text)) }
	return plan.Plan{
		Steps: []plan.Step{
			{Op: plan.OpCreate, URN: urn("a"), Type: "lab:index:Thing", Properties: []plan.Property{
				{Path: "value", Kind: plan.KindAdd, Change: plan.Change{New: text(value)}},
			}},
			{Op: plan.OpUpdate, URN: urn("b"), Type: "lab:index:Thing", Properties: []plan.Property{
				{Path: "password", Kind: plan.KindUpdate, Change: plan.Change{Old: text(plan.Secret), New: text(plan.Secret), Secret: true, Digest: "sha256:1"}},
			}},
			{Op: plan.OpReplace, URN: urn("c"), Type: "lab:index:Thing", Properties: []plan.Property{
				{Path: "name", Kind: plan.KindUpdate, Replaces: true, Change: plan.Change{Old: text("c"), New: text("c2")}},
			}},
			{Op: plan.OpDelete, URN: urn("d"), Type: "lab:index:Thing"},
		},
		Outputs:  []plan.Output{{Name: "url", Change: plan.Change{Old: text("https://a"), New: text(plan.Unknown)}}},
		Versions: map[string]string{"pulumi": "3.259.0"},
	}
}

// propose has the Stack propose a plan, as the controller does.
func (w *world) propose(p plan.Plan) *v1.PlanStatus {
	w.t.Helper()
	g := NewWithT(w.t)
	parts, err := details.Encode(p)
	g.Expect(err).NotTo(HaveOccurred())
	of := &v1.PlanStatus{
		Digest: p.Digest(), Operation: v1.OperationUpdate, State: v1.PlanProposed, Run: "5f0c2a3e", Revision: "3@sha256:6c1f", ProposedAt: metav1.Time{Time: now},
		ConfigMap: "network-plan-" + strings.TrimPrefix(p.Digest(), "sha256:")[:10] + "-1", ContentDigest: details.Digest(parts),
	}
	for n, part := range parts {
		kept := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.namespace, Name: strings.TrimSuffix(of.ConfigMap, "1") + strconv.Itoa(n+1),
				Annotations: map[string]string{details.PartsAnnotation: strconv.Itoa(len(parts))},
			},
			BinaryData: map[string][]byte{details.Key: part},
		}
		g.Expect(client.IgnoreAlreadyExists(w.api.Create(w.t.Context(), kept))).To(Succeed())
		w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), kept) })
	}
	w.status(func(s *v1.StackStatus) { s.Plan = of })
	return of
}

// answers gives an answer, after something else has happened.
type answers struct {
	first func()
	text  string
}

func (a *answers) Read(into []byte) (int, error) {
	if a.first != nil {
		a.first()
		a.first = nil
	}
	return strings.NewReader(a.text).Read(into)
}

// decided are the annotations of decisions on the Stack.
func (w *world) decided() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for key, value := range w.network().Annotations {
		switch key {
		case v1.ApproveAnnotation, v1.ApprovedByAnnotation, v1.RejectAnnotation, v1.RejectReasonAnnotation:
			found[key] = value
		}
	}
	return found
}

func TestDiff(t *testing.T) {
	w := newWorld(t, "diff")
	w.apply("steered")
	w.golden("diff_nothing", "diff stack network", "diff stack absent", "approve stack network --yes", "reject stack network --reason no")
	of := w.propose(examplePlan("one"))
	w.golden("diff", "diff stack network", "diff stack network -o yaml", "diff stack network -o markdown", "diff stack network -o dot", "get stacks network")
	w.status(func(s *v1.StackStatus) { s.Plan.Drift = "sha256:drift" })
	w.golden("diff_of_drift", "diff stack network -o markdown")
	w.status(func(s *v1.StackStatus) { s.Plan.Drift = "" })
	w.status(func(s *v1.StackStatus) {
		s.Plan.Unbound, s.Plan.Message, s.Plan.Difference = "it makes resources in apply", "the annotation pulumi.com/approve approves another plan, sha256:abc", "lab:index:Thing e is new in it (create)"
	})
	w.golden("diff_noted", "diff stack network")
	w.status(func(s *v1.StackStatus) {
		s.Plan.State, s.Plan.ApprovedBy, s.Plan.Message = v1.PlanRejected, "alice", "not on a Friday"
	})
	w.golden("diff_rejected", "diff stack network")
	w.status(func(s *v1.StackStatus) { s.Plan.State = v1.PlanApplied })
	w.golden("diff_applied", "diff stack network")

	w.status(func(s *v1.StackStatus) { s.Plan.State, s.Plan.ContentDigest = v1.PlanProposed, "sha256:another" })
	w.golden("diff_changed", "diff stack network", "approve stack network --yes")
	other := w.propose(examplePlan("two"))
	w.status(func(s *v1.StackStatus) { s.Plan.Digest = of.Digest })
	w.golden("diff_of_another", "diff stack network", "approve stack network --yes")
	NewWithT(t).Expect(w.api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: other.ConfigMap}})).To(Succeed())
	w.golden("diff_gone", "diff stack network", "approve stack network --yes")
	NewWithT(t).Expect(w.decided()).To(BeEmpty())
	w.status(func(s *v1.StackStatus) { s.Plan.ConfigMap = "" })
	w.golden("diff_unwritten", "diff stack network", "approve stack network --yes", "approve stack network --yes --digest "+of.Digest)
	NewWithT(t).Expect(w.decided()).To(HaveKeyWithValue(v1.ApproveAnnotation, of.Digest))
}

func TestDiffOfAPlanInSeveralParts(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "diff-parts")
	w.apply("steered")
	large := examplePlan("one")
	for n := range 9_000 {
		large.Steps = append(large.Steps, plan.Step{
			Op: plan.OpCreate, URN: fmt.Sprintf("urn:pulumi:dev::network::lab:index:Thing::n%d", n), Type: "lab:index:Thing",
			Properties: []plan.Property{{Path: "value", Kind: plan.KindAdd, Change: plan.Change{New: json.RawMessage(strconv.Quote(plan.Plan{Inputs: strconv.Itoa(n)}.Digest()))}}},
		})
	}
	w.propose(large)
	shown := w.run("diff stack network")
	g.Expect(shown.exit).To(Equal(1), shown.err)
	g.Expect(shown.out).To(ContainSubstring("lab:index:Thing n8999 (create)"))
}

func TestApprove(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "approve")
	w.apply("steered")
	of := w.propose(examplePlan("one"))
	w.env.In = strings.NewReader("n\n")
	w.golden("approve_refused", "approve stack network", "approve stack network --digest sha256:abc --yes")
	g.Expect(w.decided()).To(BeEmpty())

	w.env.In = strings.NewReader("y\n")
	w.golden("approve", "approve stack network", "approve stack network --digest "+of.Digest)
	g.Expect(w.decided()).To(Equal(map[string]string{v1.ApproveAnnotation: of.Digest, v1.ApprovedByAnnotation: "admin"}))

	w.golden("reject", "reject stack network", "reject stack network --reason no --digest sha256:abc", "reject stack network --reason Friday")
	g.Expect(w.decided()).To(Equal(map[string]string{
		v1.RejectAnnotation: of.Digest, v1.RejectReasonAnnotation: "Friday", v1.ApprovedByAnnotation: "admin",
	}))
	w.allowDecisions("alice")
	approved := w.run("approve stack network --yes --as alice")
	g.Expect(approved.exit).To(BeZero(), approved.err)
	g.Expect(w.decided()).To(Equal(map[string]string{v1.ApproveAnnotation: of.Digest, v1.ApprovedByAnnotation: "alice"}))

	w.status(func(s *v1.StackStatus) {
		s.Run = &v1.RunStatus{ID: "9a8f", Operation: v1.OperationUpdate, Approved: of.Digest, StartedAt: metav1.Time{Time: now}}
	})
	w.golden("reject_running", "reject stack network --reason late")
}

func TestApproveWhatWasShown(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, "approve-moved")
	w.apply("steered")
	w.propose(examplePlan("one"))
	w.env.In = &answers{func() { w.propose(examplePlan("two")) }, "y\n"}
	moved := w.run("approve stack network")
	g.Expect(moved.exit).To(Equal(1))
	g.Expect(moved.err).To(ContainSubstring("nothing was decided: the Stack now proposes another plan, " + examplePlan("two").Digest()))
	g.Expect(w.decided()).To(BeEmpty())

	// An approval takes a rejection back, but none that comes while its plan is looked at.
	w.env.In = &answers{func() {
		w.edit(func(stack *v1.Stack) {
			stack.Annotations = map[string]string{
				v1.RejectAnnotation: examplePlan("two").Digest(), v1.RejectReasonAnnotation: "Friday", v1.ApprovedByAnnotation: "bob",
			}
		})
	}, "y\n"}
	rejected := w.run("approve stack network")
	g.Expect(rejected.exit).To(Equal(1))
	g.Expect(rejected.err).To(ContainSubstring("nothing was decided: the plan was rejected by bob (Friday) in the meantime"))
	g.Expect(w.decided()).To(And(HaveKeyWithValue(v1.RejectReasonAnnotation, "Friday"), Not(HaveKey(v1.ApproveAnnotation))))

	// The controller also writes what has nothing to do with the plan.
	w.env.In = &answers{func() { w.status(func(s *v1.StackStatus) { s.ObservedGeneration = 7 }) }, "yes\n"}
	approved := w.run("approve stack network")
	g.Expect(approved.exit).To(BeZero(), approved.err)
	g.Expect(approved.err).To(ContainSubstring("the plan was rejected by bob (Friday), and this takes that back"))
	g.Expect(w.decided()).To(HaveKeyWithValue(v1.ApproveAnnotation, examplePlan("two").Digest()))
}

func TestApproveAPlanThatOnlyChangesOutputs(t *testing.T) {
	w := newWorld(t, "approve-outputs")
	w.apply("steered")
	w.propose(plan.Plan{Outputs: examplePlan("one").Outputs})
	w.golden("approve_outputs", "diff stack network", "approve stack network --yes")
}

// allowDecisions grants the user what the role pulumi-approve has.
func (w *world) allowDecisions(user string) {
	w.t.Helper()
	g := NewWithT(w.t)
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: user}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stacks"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, object := range []client.Object{role, binding} {
		g.Expect(w.api.Create(w.t.Context(), object)).To(Succeed())
		w.t.Cleanup(func() { _ = w.api.Delete(context.Background(), object) })
	}
	g.Eventually(func() int { return w.run("suspend stack idle --as " + user).exit }, time.Minute).Should(BeZero())
}
