// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// annotate sets an annotation, as kubectl annotate does.
func (t *team) annotate(stack *v1.Stack, annotation, value string) {
	t.test.Helper()
	edit(t, stack, func(s *v1.Stack) {
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[annotation] = value
	})
}

// runOf returns the ID of the run in flight.
func (t *team) runOf(stack *v1.Stack) string {
	t.test.Helper()
	t.Expect(t.Get(t.ctx, client.ObjectKeyFromObject(stack), stack)).To(Succeed())
	t.Expect(stack.Status.Run).NotTo(BeNil())
	return stack.Status.Run.ID
}

func TestACancelledJobFinishesTheOperationsInFlight(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	u.annotate(stack, v1.CancelRunAnnotation, u.runOf(stack))
	u.releaseWhenToldToStop()
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.CancelRequestedReason), conditions.GetMessage(s, meta.ReadyCondition))
	})
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(And(ContainSubstring("was cancelled on request"), ContainSubstring("requested by a user")))
	u.Expect(u.count("create", "done")).To(Equal(1), "what was in flight is finished")
	u.Expect(stack.Status.Interrupted).To(BeEmpty())
	u.noLocks()
	u.Expect(u.jobs()).To(HaveLen(1))

	u.annotate(stack, meta.ReconcileRequestAnnotation, time.Now().String())
	u.awaitReady(stack, "one")
	u.Expect(u.count("create", "begin")).To(Equal(1))
}

func TestAJobThatIsCancelledAtOnceIsRecoveredFrom(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	program := u.program("app", thing("one"))
	stack := u.stack("app")
	u.awaitReady(stack, "one")
	u.Expect(stack.Status.Inventory).To(HaveField("Count", BeEquivalentTo(1)), "the list of resources comes from the pod")
	u.annotate(stack, v1.PreviewRequestAnnotation, "one")
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(s.Status.Preview).NotTo(BeNil())
		g.Expect(s.Status.Preview.State).To(Equal(v1.UpdateSucceeded), s.Status.Preview.Message)
	})

	edit(u, program, func(p *v1.Program) { u.setProgram(p, thing("two", "hold: update")) })
	u.awaitJournal("update", "begin")
	u.annotate(stack, v1.CancelRunNowAnnotation, u.runOf(stack))
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.ReadyCondition)).To(Equal(v1.CancelRequestedReason), conditions.GetMessage(s, meta.ReadyCondition))
		g.Expect(s.Status.Run).To(BeNil())
		g.Expect(s.Status.Interrupted).To(BeEmpty())
	}) // does not wait for the operation in flight, which is held
	u.noLocks()
}

func TestAJobIsCancelledThoughItsSecretIsImmutable(t *testing.T) {
	short.Skip(t)
	u := newTeam(t)
	u.program("app", thing("one", "hold: create"))
	stack := u.stack("app")
	u.awaitJournal("create", "begin")
	u.patchSecret(stack, map[string]any{"immutable": true})
	u.annotate(stack, v1.CancelRunAnnotation, u.runOf(stack))
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetMessage(s, meta.ReadyCondition)).To(And(HavePrefix("Cancelling run "), ContainSubstring("was deleted to end its pod"), ContainSubstring("immutable")))
	})
	u.releaseWhenToldToStop()
	u.await(stack, func(g Gomega, s *v1.Stack) {
		g.Expect(conditions.GetReason(s, meta.StalledCondition)).To(Equal(v1.CancelRequestedReason), conditions.GetMessage(s, meta.ReadyCondition))
	})
	u.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(ContainSubstring("was deleted to end its pod"))
	u.noLocks()
	u.Expect(u.count("create", "begin")).To(Equal(1))
	u.Expect(u.count("create", "done")).To(Equal(1), "what was in flight is finished")
}
