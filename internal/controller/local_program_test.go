// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/localprogram"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/source"
)

const broughtText = `{"outputs":{"greeting":"hello from here"}}`

// bring creates a ConfigMap with the data, and requests a preview of it.
func (w *world) bring(key string, data []byte) localprogram.Reference {
	w.t.Helper()
	g := NewWithT(w.t)
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "brought"}, BinaryData: map[string][]byte{key: data}}
	g.Expect(w.Create(context.Background(), kept)).To(Succeed())
	ref := localprogram.NewReference("brought", data)
	w.edit(asksForPreviewOf(ref.String()))
	return ref
}

func asksForPreviewOf(value string) func(*v1.Stack) {
	return func(s *v1.Stack) {
		s.Annotations = map[string]string{v1.PreviewRequestAnnotation: "one", v1.PreviewProgramAnnotation: value}
	}
}

func TestAPreviewOfALocalProgramRunsThatInPlaceOfTheProgram(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.mustReconcile()
	w.endRun(run.Succeeded, "", run.Changes{})
	before := w.stack()
	ref := w.bring(localprogram.ProgramKey, []byte(broughtText))
	w.mustReconcile()
	stack := w.stack()
	todo := w.runner.runs[stack.Status.Run.ID]
	g.Expect(todo.Operation).To(Equal(run.Preview))
	g.Expect(string(todo.Program.YAML)).To(ContainSubstring("hello from here"))
	g.Expect(todo.Project.Name).To(Equal("app"))
	g.Expect(stack.Status.Preview.Revision).To(Equal(ref.Revision()))
	w.runner.end(todo.ID, run.Succeeded, "")
	w.mustReconcile()
	stack = w.stack()
	g.Expect(stack.Status.Preview.State).To(Equal(v1.UpdateSucceeded))
	g.Expect(stack.Status.Preview.Revision).To(Equal(ref.Revision()))
	stack.Status.Preview = before.Status.Preview
	g.Expect(stack.Status).To(Equal(before.Status), "it is no reconcile, and no revision of the Stack")
	w.mustReconcile()
	g.Expect(w.runner.started).To(Equal(2), "it is answered once")
}

func TestALocalProgramIsPreviewedWhereTheProgramIsMissing(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	program := &v1.Program{}
	g.Expect(w.Get(context.Background(), key, program)).To(Succeed())
	g.Expect(w.Delete(context.Background(), program)).To(Succeed())
	w.bring(localprogram.ProgramKey, []byte(broughtText))
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(string(todo.Program.YAML)).To(ContainSubstring("hello from here"))
}

func TestARequestIsAnsweredWhileALocalProgramWaitsForItsTurn(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	program := &v1.Program{}
	g.Expect(w.Get(context.Background(), key, program)).To(Succeed())
	g.Expect(w.Delete(context.Background(), program)).To(Succeed())
	w.runner.full = true
	w.bring(localprogram.ProgramKey, []byte(broughtText))
	w.mustReconcile()
	waits := w.stack().Status.Preview
	g.Expect(waits.Message).To(Equal("Waiting for other runs to end"))
	w.edit(func(s *v1.Stack) { s.Annotations[meta.ReconcileRequestAnnotation] = "now" })
	w.mustReconcile()
	g.Expect(w.stack().Status.LastHandledReconcileAt).To(Equal("now"))
	g.Expect(conditions.IsFalse(w.stack(), meta.ReadyCondition)).To(BeTrue())
	g.Expect(w.stack().Status.Preview).To(Equal(waits))
	w.runner.full = false
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(HaveField("PreviewRequest", "one"))
}

func TestAnArchiveTakesThePlaceOfASource(t *testing.T) {
	g := NewWithT(t)
	w := inventoryWorld(t)
	w.edit(func(s *v1.Stack) {
		s.Spec.ProgramRef = nil
		s.Spec.FluxSource = &v1.FluxSource{Dir: "infra", SourceRef: v1.SourceReference{Kind: "GitRepository", Name: "app"}}
	})
	w.Sources = &testSource{err: source.ErrNotReady}
	ref := w.bring(localprogram.ArchiveKey, []byte("an archive"))
	w.mustReconcile()
	todo := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(todo.Program).To(Equal(run.Program{Artifact: &run.Artifact{Digest: ref.Digest, Archive: []byte("an archive")}}))
	g.Expect(todo.NeedsArtifact()).To(BeTrue())
}

func TestALocalProgramIsRefused(t *testing.T) {
	good := localprogram.NewReference("brought", []byte(broughtText))
	for name, test := range map[string]struct {
		key, data, annotation string
		change                func(w *world)
		want                  string
	}{
		"for a reference that is none": {localprogram.ProgramKey, broughtText, "brought", nil,
			`ArtifactFailed: annotation pulumi.com/preview-program: "brought" is not <name of a ConfigMap>@sha256:<checksum>`},
		"without its ConfigMap": {localprogram.ProgramKey, broughtText, localprogram.NewReference("gone", []byte(broughtText)).String(), nil,
			"ArtifactFailed: ConfigMap default/gone with the program to preview not found, because the command that created it has ended: remove the annotation pulumi.com/preview-program, or preview with --path again"},
		"that is not what was asked for": {localprogram.ProgramKey, `{"outputs":{}}`, good.String(), nil, "it was changed after the request"},
		"in the place of an archive":     {localprogram.ArchiveKey, broughtText, good.String(), nil, "it has no key program.json"},
		"that is not valid": {localprogram.ProgramKey, `{"resource":{}}`, localprogram.NewReference("brought", []byte(`{"resource":{}}`)).String(), nil,
			"ArtifactFailed: the program to preview is not valid: "},
		"where the controller allows none": {localprogram.ProgramKey, broughtText, good.String(), func(w *world) { w.RefuseLocalPrograms = true },
			"ArtifactFailed: this controller only previews the programs of Stacks (--allow-preview-programs=false)"},
		"of a Stack that is suspended": {localprogram.ProgramKey, broughtText, good.String(),
			func(w *world) { w.edit(func(s *v1.Stack) { s.Spec.Suspend = true }) }, "The Stack is suspended"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := inventoryWorld(t)
			w.mustReconcile()
			w.endRun(run.Succeeded, "", run.Changes{})
			w.bring(test.key, []byte(test.data))
			w.edit(asksForPreviewOf(test.annotation))
			if test.change != nil {
				test.change(w)
			}
			w.mustReconcile()
			reported := w.stack().Status.Preview
			g.Expect(reported).NotTo(BeNil())
			g.Expect(reported.Message).To(ContainSubstring(test.want))
			g.Expect(reported.State).To(Equal(v1.UpdateFailed))
			g.Expect(w.runner.started).To(Equal(1))
		})
	}
}
