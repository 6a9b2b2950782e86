// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package stackstatus

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// TestTheEventOfAPlanHasItsDiff, bounded for chats, and longer for the comment of a pull request.
func TestTheEventOfAPlanHasItsDiff(t *testing.T) {
	made := plan.Plan{}
	for n := range 100 {
		made.Steps = append(made.Steps, plan.Step{Op: plan.OpCreate, URN: fmt.Sprintf("urn:pulumi:dev::app::lab:index:Thing::thing-%03d", n), Type: "lab:index:Thing"})
	}
	for name, test := range map[string]struct {
		annotations      map[string]string
		key, first, last string
	}{
		"chat": {nil, "pulumi.com/diff", "", " more\n```\n"},
		"pull request": {map[string]string{"event.toolkit.fluxcd.io/change_request": "7"}, "pulumi.com/comment",
			"```diff\n! The update (only outputs change) waits for an approval of plan " + made.Digest() +
				", for example with flux pulumi approve stack app -n apps\n```\n\n", "+ lab:index:Thing thing-099 (create)\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "app", Annotations: test.annotations}}
			stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}
			record := v1.RunStatus{ID: "1", Operation: v1.OperationPropose, Revision: "main@sha1:1"}
			stack.Status.Plan = &v1.PlanStatus{Digest: made.Digest(), Operation: v1.OperationUpdate, Run: "1"}
			e := EndEvent(stack, record, &run.Result{Outcome: run.Succeeded, Plan: &made})
			metadata := Metadata(stack, e)
			g.Expect(metadata["pulumi.com/plan"] != "").To(Equal(name == "chat"), "a comment has it in its text")
			g.Expect(metadata[test.key]).To(And(HavePrefix(test.first+"**100 to create**\n\n```diff\n+ lab:index:Thing thing-000 (create)\n"), HaveSuffix(test.last)))
			g.Expect(len(metadata[test.key]) <= 1000).To(Equal(name == "chat"))

			stack.Status.Plan.Run = "0"
			again := EndEvent(stack, record, &run.Result{Outcome: run.Succeeded, Plan: &made})
			g.Expect(Metadata(stack, again)[test.key]).NotTo(ContainSubstring("to create"), "it was announced before")
		})
	}
}

// A forced run refreshes, and so proposes what undoes the drift as well.
func TestAPlanIsAnnouncedOnceWhateverRunProposesIt(t *testing.T) {
	g := NewWithT(t)
	stack := &v1.Stack{}
	stack.Spec.Approval = &v1.Approval{Require: v1.ApprovalAlways}
	stack.Spec.Drift = &v1.Drift{Mode: v1.DriftPropose}
	made := &plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, URN: "urn:a"}}}
	propose := func(id, drift string) string {
		record := v1.RunStatus{ID: id, Operation: v1.OperationPropose, Drift: drift, Digest: "sha256:inputs"}
		RecordRun(stack, record)
		result := &run.Result{Outcome: run.Succeeded, Plan: made, StartedAt: started, EndedAt: started}
		AbsorbResult(stack, result)
		return EndEvent(stack, record, result).Type
	}
	g.Expect(propose("1", "sha256:drift")).To(Equal("Normal"))
	g.Expect(propose("2", "")).To(Equal("Trace"))
	g.Expect(stack.Status.Plan).To(And(HaveField("Run", "1"), HaveField("Drift", "")), "it is that of the Stack now")
	g.Expect(observeApproval(stack).Plan).NotTo(BeNil())
	made.Steps[0].Op = plan.OpReplace
	g.Expect(propose("3", "")).To(Equal("Normal"), "another plan")
}
