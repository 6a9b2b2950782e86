// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestATemplateWithNothingInItStartsNoRun(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.CheckRun = func(run.Run) error { return nil }
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	started := w.runner.started
	for _, text := range []string{`{}`, `{"spec":{}}`, `{"metadata":{"labels":{"a":"b"}}}`} {
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
