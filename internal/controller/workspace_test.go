// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAnEmptyTemplateStartsNoRun(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.Jobs = &testJobs{}
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	started := w.runner.started
	for _, text := range []string{`{}`, `{"spec":{}}`, `{"metadata":{"name":"x"}}`} {
		w.edit(func(s *v1.Stack) { s.Spec.WorkspaceTemplate = &apiextensionsv1.JSON{Raw: []byte(text)} })
		w.mustReconcile()
		g.Expect(w.runner.started).To(Equal(started), text)
	}
	w.edit(func(s *v1.Stack) {
		s.Spec.WorkspaceTemplate = &apiextensionsv1.JSON{Raw: []byte(`{"spec":{"image":"x"}}`)}
	})
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(started + 1))
}

func TestABackendThatGoesWithTheControllerIsRefused(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.CheckBackend = func(backend string) error { return errors.New("refused: " + backend) }
	w.mustReconcile()
	g.Expect(w.runner.started).To(BeZero())
	g.Expect(conditions.GetReason(w.stack(), meta.StalledCondition)).To(Equal(v1.InvalidSpecReason))
	g.Expect(conditions.GetMessage(w.stack(), meta.StalledCondition)).To(ContainSubstring("refused: file:///state"))
	w.Jobs = &testJobs{}
	w.edit(func(s *v1.Stack) { s.Spec.Refresh = true })
	w.mustReconcile()
	g.Expect(w.runner.started).NotTo(BeZero(), "a Job has other files")
	w.endRun(run.Succeeded, "", run.Changes{})

	w.Jobs = nil
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = true })
	g.Expect(w.Delete(t.Context(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(conditions.GetMessage(w.stack(), meta.StalledCondition)).To(Equal("refused: file:///state. " +
		"To delete the Stack without a destroy and keep its resources, set spec.destroyOnFinalize to false"))
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
	w.mustReconcile()
	g.Expect(apierrors.IsNotFound(w.Get(t.Context(), key, &v1.Stack{}))).To(BeTrue())
}
