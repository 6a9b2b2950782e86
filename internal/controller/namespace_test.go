// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/internal/decide"
	"github.com/flux-pulumi/pulumi-controller/internal/run"
)

func TestAStackIsReleasedInATerminatingNamespace(t *testing.T) {
	g := NewWithT(t)
	w := leftWorld(t)
	var answer error
	w.Jobs = &testJobs{namespaceEnds: func(namespace string) (bool, error) { return namespace == key.Namespace, answer }}
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	answer = errors.New("connection refused")
	_, err := w.reconcile()
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	g.Expect(w.deleted()).To(BeFalse(), "it is asked again")
	answer = nil
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.events.lines).To(ContainElement(And(HavePrefix("Warning RunInterrupted The Stack was released"), HaveSuffix("the namespace is being deleted"))))
}

func TestADestroyThatNoJobCanDoSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, programAndStack()...)
	w.nextRun()
	w.endNow(run.Succeeded, nil)
	w.Jobs = &testJobs{namespaceEnds: func(string) (bool, error) { return true, nil }}
	g.Expect(w.Delete(context.Background(), w.stack())).To(Succeed())
	started := w.runner.started
	w.mustReconcile()
	stack := w.stack()
	g.Expect(conditions.GetReason(stack, meta.StalledCondition)).To(Equal(v1.DestroyFailedReason))
	g.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal(decide.NamespaceEndsMessage))
	writes := w.writes
	w.mustReconcile()
	g.Expect(w.writes).To(Equal(writes))
	w.edit(func(s *v1.Stack) { s.Spec.DestroyOnFinalize = false })
	w.mustReconcile()
	g.Expect(w.deleted()).To(BeTrue())
	g.Expect(w.runner.started).To(Equal(started))
}
