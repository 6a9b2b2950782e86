// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/observe"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/tests/operator"
)

func byV2() *v1.Stack {
	stack := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", Generation: 1}}
	stack.Spec = v1.StackSpec{Stack: "acme/web/prod"}
	stack.Spec.ProjectRepo, stack.Spec.Branch = "https://git.example.com/acme/web.git", "main"
	operator.UpdatedByV2(stack, "9a8f4c4a", time.Unix(0, 0))
	return stack
}

func TestOutcomes(t *testing.T) {
	token := []observe.ExplainedValue{{Kind: "env", Name: "PULUMI_ACCESS_TOKEN", Value: "[secret]"}}
	action := func(d decide.Decision) *observe.Foresight { return &observe.Foresight{Decision: d, Values: token} }
	takes := func() *observe.Foresight { return action(decide.Decision{Action: decide.TakeOver}) }
	for _, tt := range []struct {
		name     string
		foreseen *observe.Foresight
		facts    Facts
		change   func(*v1.Stack)
		want     Outcome
		run, why string
	}{
		{"taken over", takes(), Facts{}, nil, TakenOver, "", "the operator has applied it as it is"},
		{"taken over if nothing was pushed", func() *observe.Foresight { f := takes(); f.Assumed = true; return f }(), Facts{}, nil, TakenOver, "", "another commit than 9a8f4c4a"},
		{"runs", func() *observe.Foresight {
			f := action(decide.Decision{Action: decide.Start, Operation: run.Update})
			f.Unproven = "it has failed"
			return f
		}(), Facts{}, nil, Runs, "update", "it has failed"},
		{"previews", action(decide.Decision{Action: decide.Start, Operation: run.Preview}), Facts{}, func(s *v1.Stack) { s.Spec.Preview = true }, Runs, "preview", "only previews"},
		{"is requested", action(decide.Decision{Action: decide.Start, Operation: run.Update}), Facts{}, nil, Runs, "update", "requested"},
		{"is destroyed", action(decide.Decision{Action: decide.Start, Operation: run.Destroy}), Facts{}, func(s *v1.Stack) { s.DeletionTimestamp = &metav1.Time{} }, Runs, "destroy", "being deleted"},
		{"is released", action(decide.Decision{Action: decide.RemoveFinalizer}), Facts{}, nil, Released, "", "kept"},
		{"is suspended", action(decide.Decision{Action: decide.MarkSuspended}), Facts{}, nil, Suspended, "", "resumed"},
		{"lacks a Secret", func() *observe.Foresight {
			f := action(decide.Decision{Action: decide.Fail, Message: "spec.envRefs.A: not found"})
			f.Missing = []string{"spec.envRefs.A: not found"}
			return f
		}(), Facts{}, nil, EditFirst, "", "spec.envRefs.A: not found"},
		{"has faults", func() *observe.Foresight { f := takes(); f.Faults = []string{"spec.a: bad"}; return f }(), Facts{}, nil, EditFirst, "", "spec.a: bad"},
		{"has no backend", &observe.Foresight{Decision: decide.Decision{Action: decide.TakeOver}}, Facts{}, nil, EditFirst, "", "neither a backend nor an access token"},
		{"may have a backend in its template", &observe.Foresight{Decision: decide.Decision{Action: decide.TakeOver}},
			Facts{Jobs: true, SpecFields: []string{"workspaceTemplate"}}, nil, TakenOver, "", ""},
		{"may have a backend in what nobody may read", &observe.Foresight{Decision: decide.Decision{Action: decide.TakeOver}, Unreadable: []string{"a"}}, Facts{}, nil, TakenOver, "", ""},
		{"has an Update in flight", takes(), Facts{Updating: true}, nil, WaitFirst, "", "in flight"},
		{"is at an update of v2", takes(), Facts{}, func(s *v1.Stack) { s.Status.CurrentUpdate = &v1.CurrentUpdate{} }, WaitFirst, "", "in flight"},
		{"is at an update of v1", takes(), Facts{}, func(s *v1.Stack) {
			s.Status.Conditions = []metav1.Condition{{Type: "Reconciling", Status: "True", Reason: "StackProcessing"}}
		}, WaitFirst, "", "in flight"},
		{"has run here", takes(), Facts{}, func(s *v1.Stack) { s.Status.LastAppliedDigest = "sha256:a" }, Managed, "", "this controller"},
		{"waits for something else", action(decide.Decision{Action: decide.AwaitApproval, Reason: "A", Message: "b"}), Facts{}, nil, Unreadable, "", "A: b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			stack := byV2()
			if tt.change != nil {
				tt.change(stack)
			}
			found := OfStack(stack, tt.foreseen, tt.facts)
			g.Expect(found.Outcome).To(Equal(tt.want))
			g.Expect(found.Run).To(Equal(tt.run))
			g.Expect(found.Why).To(ContainSubstring(tt.why))
		})
	}
}

// Each field of the operator is applied, or known to have no effect. The guide names the latter.
func TestEachFieldOfTheOperatorIsSorted(t *testing.T) {
	g := NewWithT(t)
	all := slices.Collect(maps.Keys(operator.SpecV2()))
	fields := fieldsOf(all, nil)
	g.Expect(fields.Unsupported).To(BeEmpty())
	g.Expect(fields.WithoutEffect).To(Equal(withoutEffect()))
	g.Expect(len(fields.Applied) + len(fields.WithoutEffect)).To(Equal(len(all)))
	for _, d := range differences() {
		g.Expect(all).To(ContainElement(d.field))
	}
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "migration", "fields.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, field := range withoutEffect() {
		g.Expect(string(guide)).To(MatchRegexp("(?m)^\\| `" + field + "` \\| no \\| yes \\| (accepted|there are no Update objects)"))
	}

	fields = fieldsOf([]string{"stack", "envRefs", "other"}, []string{"spec.envRefs.A: bad"})
	g.Expect(fields).To(Equal(Fields{Applied: []string{"stack"}, Unsupported: []string{"envRefs", "other"}}))
}

func TestAReportIsReadyIfNothingIsToBeDone(t *testing.T) {
	for outcome, want := range map[Outcome]bool{TakenOver: true, Runs: true, Managed: true, Released: true, Suspended: true, EditFirst: false, WaitFirst: false, Unreadable: false} {
		NewWithT(t).Expect((&Report{Stacks: []Stack{{Outcome: outcome}}}).Ready()).To(Equal(want), string(outcome))
	}
	NewWithT(t).Expect((&Report{Prerequisites: []string{"a"}}).Ready()).To(BeFalse())
	NewWithT(t).Expect((&Report{Programs: []Program{{}}}).Ready()).To(BeFalse())
}
