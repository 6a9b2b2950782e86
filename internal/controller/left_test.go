// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

// leftWorld has an interrupted Stack without destroyOnFinalize.
func leftWorld(t *testing.T) *world {
	w := newWorld(t, programAndStack()...)
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
	w.nextRun()
	w.endNow(run.Failed, byForce)
	return w
}

func TestAStackWithoutDestroyOnFinalizeRecoversFirst(t *testing.T) {
	g := NewWithT(t)
	w := leftWorld(t)
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
	w.endNow(run.BackendUnavailable, nil)
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeFalse())
	g.Expect(conditions.GetMessage(w.stack(), meta.ReadyCondition)).To(ContainSubstring("set spec.suspend to true"))
	w.passTime(time.Hour)
	g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
	w.endNow(run.Succeeded, func(r *run.Result) { r.UnknownCreates = []string{"urn:a"} })
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning PendingOperations The Stack was released"), HaveSuffix(": urn:a"))))
}

func TestSuspendingReleasesAnInterruptedStack(t *testing.T) {
	g := NewWithT(t)
	w := leftWorld(t)
	w.edit(func(s *v1.Stack) { s.Spec.Suspend = true })
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.events.lines).To(ContainElement(HavePrefix("Warning RunInterrupted The Stack was released without a recovery")))
}

func TestARecoveryNeedsNoInputsOfTheProgram(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"a Program that is invalid by now": func(w *world) {
			w.says(map[string]any{"config": map[string]any{"who": map[string]any{"type": "string"}}, "resources": map[string]any{"a": map[string]any{"typ": "x"}}})
		},
		"config that is refused by now": func(w *world) {
			w.says(map[string]any{"config": map[string]any{"who": map[string]any{"type": "string"}, "more": map[string]any{"type": "string"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(t, programAndStack()...)
			w.change(func(s *v1.StackSpec) {
				s.Backend = "file:///state"
				s.Config = map[string]apiextensionsv1.JSON{"who": {Raw: []byte(`"me"`)}}
			})
			w.says(map[string]any{"config": map[string]any{"who": map[string]any{"type": "string"}}})
			w.nextRun()
			w.endNow(run.Failed, byForce)
			change(w)
			g.Expect(w.nextRun().Operation).To(Equal(run.Recover))
		})
	}
}

func TestARecoveryNeedsNoProgram(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.nextRun()
	w.endNow(run.Failed, byForce)
	g.Expect(w.Delete(context.Background(), &v1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "app"}})).To(Succeed())
	revision := w.stack().Status.LastAttemptedRevision
	g.Expect(revision).NotTo(BeEmpty())
	recovery := w.nextRun()
	g.Expect(recovery.Operation).To(Equal(run.Recover))
	g.Expect(recovery.Project.Name).To(Equal("app"))
	g.Expect(w.stack().Status.LastAttemptedRevision).To(Equal(revision))
	w.endNow(run.Succeeded, nil)
	w.mustReconcile()
	g.Expect(w.stack().Status.Run).To(BeNil())
	g.Expect(conditions.GetReason(w.stack(), meta.ReadyCondition)).To(Equal(meta.ArtifactFailedReason))
}
