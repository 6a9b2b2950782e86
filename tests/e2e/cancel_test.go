// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// firstHeld is the body of a program that makes two things, of which the first is held.
const firstHeld = `resources:
  b:
    type: lab:index:Thing
    properties: {name: b, value: x, hold: create}
  c:
    type: lab:index:Thing
    properties: {name: c, value: z}
    options: {dependsOn: ["${b}"]}
`

// annotate sets an annotation, as kubectl annotate does.
func (t *tenant) annotate(stack *v1.Stack, annotation, value string) {
	t.test.Helper()
	edit(t, stack, func(s *v1.Stack) {
		if s.Annotations == nil {
			s.Annotations = map[string]string{}
		}
		s.Annotations[annotation] = value
	})
}

// locks lists the locks in the backend.
func (t *tenant) locks(g Gomega) []string {
	locks, err := filepath.Glob(filepath.Join(t.backend, ".pulumi", "locks", "*", "*", "*", "*"))
	g.Expect(err).NotTo(HaveOccurred())
	return locks
}

func TestARunThatIsCancelledEndsWithoutHarmAndIsNotTriedAgain(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(firstHeld))
	stack := u.stack(fromProgram, retriedEvery(time.Second))
	u.apply(stack)
	u.awaitJournal("create", "begin", "b")
	u.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
	u.Expect(stack.Status.Run).NotTo(BeNil())
	u.annotate(stack, v1.CancelRunAnnotation, stack.Status.Run.ID)
	u.Eventually(u.cloud.ToldToStop).Should(BeTrue())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitStalled(stack, v1.CancelRequestedReason, "Update of revision ", "was cancelled on request and starts again only with a new revision", "requested by a user")

	u.Expect(u.things()).To(Equal(map[string]string{"b": "x"}), "what was in flight is finished, and nothing else is started")
	u.Expect(u.resourcesInState("app", "dev")).To(ConsistOf("b"), "with no operation pending")
	u.Expect(u.locks(u)).To(BeEmpty())
	calls := len(u.pulumiCalls())
	u.Consistently(func() int { return len(u.pulumiCalls()) }, 3*time.Second).Should(Equal(calls), "the retry interval begins nothing")

	token := request(u, stack)
	u.awaitReady(stack, func(g Gomega, s *v1.Stack) { g.Expect(s.Status.LastHandledReconcileAt).To(Equal(token)) })
	u.Expect(u.cloud.Created("b")).To(Equal(1))
	u.Expect(u.things()).To(Equal(map[string]string{"b": "x", "c": "z"}))
	u.Expect(stack.Annotations).To(HaveKey(v1.CancelRunAnnotation), "what is left of the word does nothing")
	u.Expect(stack.Status.CancelledRun).To(BeNil())
}

func TestARunThatIsCancelledAtOnceIsRecoveredFrom(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	u := newTenant(t, shared)
	u.apply(u.program(oneThing("one")))
	stack := u.stack(fromProgram, retriedEvery(time.Second))
	u.apply(stack)
	u.awaitReady(stack)

	program := &v1.Program{}
	u.Expect(u.Get(u.ctx, types.NamespacedName{Namespace: u.namespace, Name: "app"}, program)).To(Succeed())
	slow := u.program(oneThing("two", "hold: update"))
	slow.ResourceVersion = program.ResourceVersion
	u.Expect(u.Update(u.ctx, slow)).To(Succeed())
	u.awaitJournal("update", "begin", "a")
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.Run).NotTo(BeNil())
	}).Should(Succeed())
	u.annotate(stack, v1.CancelRunNowAnnotation, stack.Status.Run.ID)
	u.awaitNotReady(stack, v1.CancelRequestedReason, []string{"was cancelled on request"}) // what is in flight is not waited for
	u.Expect(stack.Status.Interrupted).To(BeEmpty())
	u.Expect(u.resourcesInState("app", "dev")).To(ConsistOf("a"), "with no operation pending")
	u.Expect(u.locks(u)).To(BeEmpty())
}
