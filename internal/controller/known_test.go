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
	"github.com/flux-pulumi/pulumi-controller/internal/run"
	"github.com/flux-pulumi/pulumi-controller/internal/stackstatus"
)

func TestTheNextRunKnowsTheBackendThatTheStackWasFoundIn(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].KnownBackend).To(BeEmpty())
	w.endNow(run.Succeeded, func(r *run.Result) { r.Backend = "file:///state" })
	g.Expect(w.stack().Status.ProjectInfo).To(Equal(&v1.ProjectInfo{Name: "app", Runtime: "yaml", Backend: "file:///state"}))

	w.edit(func(s *v1.Stack) { s.Spec.Backend = "file:///elsewhere" })
	w.mustReconcile()
	g.Expect(w.runner.runs[w.stack().Status.Run.ID].KnownBackend).To(Equal("file:///state"))
	w.endNow(run.Failed, nil)
	g.Expect(w.stack().Status.ProjectInfo.Backend).To(Equal("file:///state"), "it was not found elsewhere")

	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	destroy := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(destroy.Operation).To(Equal(run.Destroy))
	g.Expect(destroy.KnownBackend).To(Equal("file:///state"))
}

func TestALostFirstRunLeavesItsProjectAndBackend(t *testing.T) {
	g := NewWithT(t)
	w, _ := takenOver(t)
	w.others.gone = true
	w.mustReconcile()
	stack := w.stack()
	g.Expect(stack.Status.ProjectInfo).To(Equal(&v1.ProjectInfo{Name: "app", Runtime: "yaml"}), "nobody has seen it in a backend")
	g.Expect(stack.Status.Interrupted[0].Backend).To(Equal("file:///state"))

	g.Expect(w.Delete(context.Background(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())
	g.Expect(w.Delete(context.Background(), stack)).To(Succeed())
	w.mustReconcile()
	recovery := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.Project.Name).To(Equal("app"))
	g.Expect(recovery.KnownBackend).To(Equal("file:///state"))
	g.Expect(recovery.Known).To(BeZero(), "it may never have made the stack")
	w.endNow(run.Succeeded, nil)
	w.mustReconcile()
	destroy := w.runner.runs[w.stack().Status.Run.ID]
	g.Expect(destroy.Operation).To(Equal(run.Destroy))
	g.Expect(destroy.Project.Name).To(Equal("app"), "the Program is gone")
}

func TestADestroyThatDoesNotKnowItsProjectSaysSo(t *testing.T) {
	g := NewWithT(t)
	w, _ := takenOver(t)
	w.others.gone = true
	stack := w.stack()
	stack.Status.Run.ProjectInfo = nil // as with a source, whose project is unknown until it is fetched
	g.Expect(w.Status().Update(context.Background(), stack)).To(Succeed())
	w.mustReconcile()
	g.Expect(w.Delete(context.Background(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ArtifactFailedReason))
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring(
		"the destroy needs it to find out the project of the stack: no run has recorded it, and spec.stack does not name it"))
}

func TestAHalfCreatedStackIsKnown(t *testing.T) {
	tests := map[string]struct {
		status v1.StackStatus
		want   string
	}{
		"one that was applied":                             {v1.StackStatus{LastAppliedDigest: "sha256:inputs", ProjectInfo: &v1.ProjectInfo{Name: "app"}}, "app"},
		"one with resources of a failed update":            {v1.StackStatus{Resources: &v1.ResourcesStatus{Total: 1}, ProjectInfo: &v1.ProjectInfo{Name: "app"}}, "app"},
		"one that was found in a backend":                  {v1.StackStatus{ProjectInfo: &v1.ProjectInfo{Name: "app", Backend: "file:///state"}}, "app"},
		"one whose update failed before it had resources":  {v1.StackStatus{Resources: &v1.ResourcesStatus{}, ProjectInfo: &v1.ProjectInfo{Name: "app"}}, ""},
		"one that an interrupted run may not have created": {v1.StackStatus{Interrupted: []v1.InterruptedRun{{Backend: "file:///state"}}, ProjectInfo: &v1.ProjectInfo{Name: "app"}}, ""},
		"one that never ran":                               {v1.StackStatus{}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(stackstatus.KnownProject(&v1.Stack{Status: tt.status}).Name).To(Equal(tt.want))
		})
	}
}

func TestABackendThatASecretNamesIsNotRecorded(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, append(programAndStack(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backend", UID: "uid"}, Data: map[string][]byte{"url": []byte("s3://hidden-bucket?region=x")},
	})...)
	w.edit(func(s *v1.Stack) {
		s.Spec.Backend = ""
		s.Spec.EnvRefs = map[string]v1.ResourceRef{"PULUMI_BACKEND_URL": {
			Type: v1.ResourceRefSecret, Secret: &v1.SecretKeyReference{Name: "backend", Key: "url"},
		}}
	})
	w.mustReconcile()
	recorded := w.stack().Status.Run
	g.Expect(w.runner.runs[recorded.ID].Backend).To(Equal("s3://hidden-bucket?region=x"))
	g.Expect(recorded.ProjectInfo.Backend).To(MatchRegexp(`^s3://sha256-[0-9a-f]{16}-[0-9a-f]{8}$`))
	g.Expect(w.runner.runs[recorded.ID].BackendKey).To(Equal("uid"), "nobody who guesses the bucket can know that")
}

func TestCreationsThatAreForgottenAreNamedInAnEvent(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.mustReconcile()
	w.endNow(run.Failed, func(r *run.Result) { r.UnknownCreates = []string{"urn:a", "urn:b"} })
	w.edit(func(s *v1.Stack) { s.Spec.PendingCreates = v1.PendingCreatesClear })
	w.mustReconcile()
	w.endNow(run.Succeeded, func(r *run.Result) { r.Forgotten = []string{"urn:a", "urn:b"} })
	g.Expect(w.events.lines).To(ContainElement(And(
		HavePrefix("Warning PendingOperations Removed these creations of unknown outcome from the state"), HaveSuffix(": urn:a, urn:b"))))
}
