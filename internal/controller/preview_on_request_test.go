// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/inventory"
	"github.com/flux-pulumi/pulumi-controller/internal/plan"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func asksForPreview(request string) func(*v1.Stack) {
	return func(s *v1.Stack) { s.Annotations = map[string]string{v1.PreviewRequestAnnotation: request} }
}

func TestAPreviewOnRequestIsNoReconcile(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{Created: 1})
	w.mustReconcile()
	before, events := w.stack(), len(w.events.lines)

	w.edit(asksForPreview("one"))
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(HaveField("PreviewRequest", "one"))
	todo := w.runner.runs[stack.Status.Run.ID]
	g.Expect(todo.Operation).To(Equal(run.Preview))
	g.Expect(todo.WantsPlan).To(BeTrue())
	g.Expect(todo.Outputs).To(BeNil())
	g.Expect(stack.Status.Conditions).To(Equal(before.Status.Conditions))
	w.passTime(time.Minute)
	w.mustReconcile()
	g.Expect(w.stack().Status).To(Equal(stack.Status), "its progress is not reported in the conditions")

	made := plan.Plan{Steps: []plan.Step{{Op: plan.OpUpdate, URN: things("a")[0].URN, Type: "lab:index:Thing", Properties: []plan.Property{
		{Path: "value", Kind: plan.KindUpdate, Change: plan.Change{Old: json.RawMessage(`"x"`), New: json.RawMessage(`"y"`)}},
	}}}}
	w.runner.end(todo.ID, run.Succeeded, "")
	w.runner.results[todo.ID].Changes = run.Changes{Updated: 1}
	w.runner.results[todo.ID].Plan = &made
	w.mustReconcile()
	stack = w.stack()
	reported := stack.Status.Preview
	g.Expect(reported.State).To(Equal(v1.UpdateSucceeded))
	g.Expect(reported.Request).To(Equal("one"))
	g.Expect(reported.Updated).To(BeEquivalentTo(1))
	kept := &corev1.ConfigMap{}
	g.Expect(w.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: reported.ConfigMap}, kept)).To(Succeed())
	read, err := inventory.DecodePlan(kept.BinaryData[inventory.PlanKey])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read).To(Equal(made))

	after := stack.DeepCopy()
	after.Status.Preview = before.Status.Preview
	g.Expect(after.Status).To(Equal(before.Status), "nothing else of the status has changed")
	g.Expect(w.events.lines).To(HaveLen(events))
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "it is answered once")
}

func TestAPreviewThatIsNotPossibleIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"suspended": {func(w *world) { w.edit(func(s *v1.Stack) { s.Spec.Suspend = true }) }, "The Stack is suspended: resume it first"},
		"without its program": {func(w *world) {
			g := NewWithT(w.t)
			program := &v1.Program{}
			g.Expect(w.Get(context.Background(), key, program)).To(Succeed())
			g.Expect(w.Delete(context.Background(), program)).To(Succeed())
		}, "ArtifactFailed: Program default/app not found: create it, or correct spec.programRef"},
		"in a pod that cannot be": {func(w *world) {
			w.Jobs = &testJobs{fault: errors.New("spec.workspaceTemplate is wrong")}
		}, "InvalidSpec: spec.workspaceTemplate is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := inventoryWorld(t)
			w.mustReconcile()
			w.endRun(run.Succeeded, "", run.Changes{})
			test.change(w)
			w.edit(asksForPreview("one"))
			w.mustReconcile()
			reported := w.stack().Status.Preview
			g.Expect(reported.Message).To(Equal(test.want))
			g.Expect(reported.State).To(Equal(v1.UpdateFailed))
			g.Expect(reported.Request).To(Equal("one"))
			g.Expect(w.runner.started).To(Equal(1))
		})
	}
}

// waitingPreview is a world with a Stack whose preview waits for a slot.
func waitingPreview(t *testing.T) *world {
	t.Helper()
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	w.runner.full = true
	w.edit(asksForPreview("one"))
	w.mustReconcile()
	return w
}

func TestAPreviewThatWaitsForItsTurnSaysSo(t *testing.T) {
	g := NewWithT(t)
	w := waitingPreview(t)
	reported := w.stack().Status.Preview
	g.Expect(reported).To(Equal(&v1.PreviewStatus{Request: "one", Message: "Waiting for other runs to end"}))
	w.runner.full = false
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("PreviewRequest", "one"))
	g.Expect(w.stack().Status.Preview.Message).To(BeEmpty())
}

func TestAPreviewThatIsNoLongerAskedForIsNotDone(t *testing.T) {
	g := NewWithT(t)
	w := waitingPreview(t)
	w.runner.full = false
	w.edit(func(s *v1.Stack) { s.Annotations = nil })
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(w.stack().Status.Preview).To(BeNil(), "it says of none that it waits")
}

func TestAPreviewIsInAPodAsTheTemplateSays(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.Jobs = &testJobs{}
	w.edit(func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = &apiextensionsv1.JSON{Raw: []byte(`{"spec":{"image":"pulumi/pulumi-nodejs"}}`)}
	})
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.edit(asksForPreview("one"))
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.WantsPlan).To(BeTrue())
	g.Expect(string(todo.Workspace)).To(ContainSubstring("pulumi/pulumi-nodejs"))
}

func TestAPreviewThatIsLostIsNothingToRecoverFrom(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.edit(asksForPreview("one"))
	w.mustReconcile()
	w.runner = newTestRunner()
	w.Runner, w.Holder.Instance, w.others.gone = w.runner, "b", true
	w.mustReconcile()
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.Run).To(BeNil())
	g.Expect(stack.Status.Interrupted).To(BeEmpty())
	g.Expect(stack.Status.Preview.State).To(Equal(v1.UpdateFailed))
	g.Expect(stack.Status.Preview.Message).To(HavePrefix("The controller on pod-1 that had run "))
	g.Expect(w.runner.started).To(BeZero())
}

func TestWhatIsDueComesBeforeAPreview(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.edit(asksForPreview("one"))
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("Operation", v1.OperationUpdate))
	w.endRun(run.Succeeded, "", run.Changes{})
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("PreviewRequest", "one"))
}

func TestARequestForAPreviewWakesItsStack(t *testing.T) {
	asks := asksForPreview("one")
	waits := func(s *v1.Stack) {
		s.Status.Preview = &v1.PreviewStatus{Request: "one", Message: "Waiting for other runs to end"}
	}
	ended := func(s *v1.Stack) {
		s.Status.Preview = &v1.PreviewStatus{Request: "one", Run: "run-1", EndedAt: &metav1.Time{Time: started}}
	}
	runs := func(s *v1.Stack) { s.Status.Run = &v1.RunStatus{ID: "run-1", PreviewRequest: "one"} }
	for name, tc := range map[string]struct {
		before, after *v1.Stack
		want          bool
	}{
		"a new one":                 {stackOf("a"), stackOf("a", asks), true},
		"another":                   {stackOf("a", asksForPreview("before")), stackOf("a", asks), true},
		"the same":                  {stackOf("a", asks), stackOf("a", asks, waits), false},
		"taken back while it waits": {stackOf("a", asks, waits), stackOf("a", waits), true},
		"taken back while it runs":  {stackOf("a", asks, runs), stackOf("a", runs), true},
		"taken back after its end":  {stackOf("a", asks, ended), stackOf("a", ended), false},
		"none":                      {stackOf("a", waits), stackOf("a", waits), false},
	} {
		t.Run(name, func(t *testing.T) {
			passes := previewRequestedPredicate().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after})
			NewWithT(t).Expect(passes).To(Equal(tc.want))
		})
	}
}

func TestAPreviewKeepsItsTurnAfterAConflict(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	w.edit(asksForPreview("one"))
	w.failWrite = func(int) error { return apierrors.NewConflict(schema.GroupResource{Resource: "stacks"}, "app", nil) }
	w.mustReconcile()
	g.Expect(w.runner.postponed).To(Equal(1))
	g.Expect(w.stack().Status.Run).To(BeNil())

	w.failWrite = nil
	g.Expect(w.nextRun().Operation).To(Equal(run.Preview))
}
