// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestTwoStacksForOneStackAreAnnouncedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(w *world, other *v1.Stack)
		want []string
	}{
		"where namespaces may not know of each other": {func(*world, *v1.Stack) {}, []string{
			"A Stack in another namespace updates the same stack, organization/app/dev, "}},
		"where namespaces may know of each other": {func(w *world, _ *v1.Stack) { w.NoCrossNamespaceRefs = false }, []string{
			"Stack other/app updates the same stack, organization/app/dev, ", "Stack default/app updates the same stack, app/dev, "}},
		"in the same namespace": {func(_ *world, other *v1.Stack) { other.Namespace, other.Name = "default", "copy" }, []string{
			"Stack default/copy updates the same stack, organization/app/dev, ", "Stack default/app updates the same stack, app/dev, "}},
		"another stack":                   {func(_ *world, other *v1.Stack) { other.Spec.Stack = "prod" }, nil},
		"another project":                 {func(_ *world, other *v1.Stack) { other.Status.ProjectInfo.Name = "web" }, nil},
		"another backend":                 {func(_ *world, other *v1.Stack) { other.Status.ProjectInfo.Backend = "s3://others" }, nil},
		"another endpoint of the backend": {func(_ *world, other *v1.Stack) { other.Spec.Backend = "s3://state?endpoint=here" }, nil},
		"one that only previews":          {func(_ *world, other *v1.Stack) { other.Spec.Preview = true }, nil},
		"one that no run has found":       {func(_ *world, other *v1.Stack) { other.Status.ProjectInfo = nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, _ := sourceWorld(t, func(s *v1.Stack) { s.Spec.Backend = "s3://state" })
			other := &v1.Stack{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "app"},
				Spec:   v1.StackSpec{Stack: "app/dev", Backend: "s3://state"},
				Status: v1.StackStatus{ProjectInfo: &v1.ProjectInfo{Name: "app", Backend: "s3://state"}}}
			test.edit(w, other)
			g.Expect(w.Create(t.Context(), other)).To(Succeed())
			g.Expect(w.Status().Update(t.Context(), other)).To(Succeed())
			update := func() {
				w.mustReconcile()
				id := w.stack().Status.Run.ID
				w.runner.end(id, run.Succeeded, "")
				w.runner.results[id].Backend = "s3://state"
				w.mustReconcile()
			}
			update()
			w.annotate("reconcile.fluxcd.io/requestedAt", "again")
			update()
			var shared []any
			for _, start := range test.want {
				shared = append(shared, HavePrefix("Warning StackShared "+start))
			}
			var announced []string
			for _, line := range w.events.lines {
				if len(line) > 20 && line[:20] == "Warning StackShared " {
					announced = append(announced, line)
				}
			}
			g.Expect(announced).To(HaveExactElements(shared...))
		})
	}
}

func TestFilesOfPodsAreNotShared(t *testing.T) {
	g := NewWithT(t)
	w, _ := sourceWorld(t)
	w.Jobs = &testJobs{}
	other := w.stack().DeepCopy()
	other.Name, other.ResourceVersion, other.Status.ProjectInfo = "copy", "", &v1.ProjectInfo{Name: "app", Backend: "file:///state"}
	g.Expect(w.Create(t.Context(), other)).To(Succeed())
	g.Expect(w.Status().Update(t.Context(), other)).To(Succeed())
	w.mustReconcile()
	id := w.stack().Status.Run.ID
	w.runner.end(id, run.Succeeded, "")
	w.runner.results[id].Backend = "file:///state"
	w.mustReconcile()
	g.Expect(w.events.lines).To(HaveExactElements(HavePrefix("Trace ReconciliationSucceeded")))
}
