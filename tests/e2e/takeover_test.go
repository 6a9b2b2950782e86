// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// longName has the maximum length of an object's name. The Pulumi operator v2 allows 42 characters.
var longName = strings.Repeat("long-", 50) + "app"

// TestAStackOfTheOperatorIsTakenOver uses its own controller, which is stopped while the operator would be at
// work, so its parts run in sequence.
func TestAStackOfTheOperatorIsTakenOver(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	w := ownController(t, "takeover")
	for _, part := range []struct {
		name string
		test func(*tenant)
	}{
		{"of v1, with a Program", aProgramOfTheOperatorV1},
		{"of v2, with a Flux source and a long name", aFluxSourceOfTheOperatorV2},
		{"deleted before it ever ran here", aStackThatNeverRanHere},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(newTenant(t, w)) })
	}
}

func aProgramOfTheOperatorV1(u *tenant) {
	program := u.program(twoThings("one", "two"))
	u.apply(program)
	stack := u.byTheOperator("app", twoThings("one", "two"), u.stack(fromProgram, destroyed), func(s *v1.Stack) {
		s.Status.LastUpdate.LastSuccessfulCommit = fmt.Sprintf("app/%d", program.Generation)
	})
	u.awaitTakenOver(stack)
	u.Expect(stack.Status.LastAppliedRevision).To(HavePrefix("1@sha256:"))

	edit(u, program, func(p *v1.Program) { u.setProgram(p, twoThings("one", "three")) })
	u.awaitReady(stack, programEdited(program))
	u.expectTheEditAlone()
	u.destroysAll(stack, "app")
}

func aFluxSourceOfTheOperatorV2(u *tenant) {
	source := u.git(project("lab", twoThings("one", "two")))
	revision := u.awaitArtifact(source.object, "")
	stack := u.byTheOperator("lab", twoThings("one", "two"), u.stack(fromGit, destroyed, func(s *v1.Stack) { s.Name = longName }), func(s *v1.Stack) {
		s.Status.ProjectInfo = &v1.ProjectInfo{Name: "lab", Runtime: "yaml"}
		s.Status.LastUpdate.Generation, s.Status.LastUpdate.Type, s.Status.LastUpdate.Name = s.Generation, v1.UpdateTypeUp, "app-18a9f0c2d3e"
		s.Status.LastUpdate.LastSuccessfulCommit = revision
	})
	u.awaitTakenOver(stack)
	u.Expect(stack.Status.LastAppliedRevision).To(Equal(revision))

	next := source.commit(project("lab", twoThings("one", "three")))
	u.awaitReady(stack, atRevision(next))
	u.expectTheEditAlone()
	u.destroysAll(stack, "lab")
}

// A Stack that was taken over, never ran and lost its source is destroyed from its state.
func aStackThatNeverRanHere(u *tenant) {
	program := u.program(twoThings("one", "two"))
	u.apply(program)
	stack := u.byTheOperator("app", twoThings("one", "two"), u.stack(fromProgram, destroyed), func(s *v1.Stack) {
		s.Status.LastUpdate.LastSuccessfulCommit = fmt.Sprintf("app/%d", program.Generation)
	})
	u.awaitTakenOver(stack)
	u.delete(program)
	u.awaitGone(program)
	u.destroysAll(stack, "app")
	u.Expect(u.verbs()).To(Equal([]string{"stack export", "destroy", "stack rm"}))
}

// byTheOperator creates a Stack, its resources and its status as the Pulumi operator would, and starts this
// controller only afterwards.
func (t *tenant) byTheOperator(project, body string, stack *v1.Stack, status func(*v1.Stack)) *v1.Stack {
	t.test.Helper()
	t.Expect(t.Controller.Stop()).To(Succeed())
	t.bareUp(project, body)
	stack.Finalizers = []string{v1.StackFinalizer}
	stack.Annotations = map[string]string{v1.ReconcileRequestAnnotation: "by hand"}
	t.apply(stack)
	now := metav1.Time{Time: time.Now().Truncate(time.Second)}
	stack.Status.ObservedGeneration = stack.Generation
	stack.Status.ObservedReconcileRequest = "by hand"
	stack.Status.LastUpdate = &v1.LastUpdate{State: v1.UpdateSucceeded, LastResyncTime: &now}
	stack.Status.Conditions = []metav1.Condition{{
		Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: "ProcessingCompleted",
		Message: "the stack has been processed and is up to date", LastTransitionTime: now, ObservedGeneration: stack.Generation,
	}}
	status(stack)
	stack.Status.LastUpdate.LastAttemptedCommit = stack.Status.LastUpdate.LastSuccessfulCommit
	t.Expect(t.Status().Update(t.ctx, stack)).To(Succeed())
	t.Expect(t.StartController()).To(Succeed())
	return stack
}

// bareUp runs a program with the CLI alone, and does not count the call.
func (t *tenant) bareUp(name, body string) {
	t.test.Helper()
	bare := t.barePulumi(project(name, body))
	bare.run("", "stack", "init", "dev")
	bare.run("", "config", "set", "lab:directory", t.place, "--stack", "dev")
	bare.run("", "up", "--yes", "--skip-preview", "--stack", "dev")
	t.Expect(t.things()).To(Equal(map[string]string{"b": "one", "c": "two"}))
}

// awaitTakenOver waits until the controller has recorded what is applied, and checks that this took no run.
func (t *tenant) awaitTakenOver(stack *v1.Stack) {
	t.test.Helper()
	t.Eventually(func(g Gomega) {
		g.Expect(t.Get(t.ctx, keyOf(stack), stack)).To(Succeed())
		g.Expect(stack.Status.LastAppliedDigest).NotTo(BeEmpty())
	}).Should(Succeed())
	t.Expect(conditions.IsReady(stack)).To(BeTrue())
	t.Expect(conditions.GetMessage(stack, meta.ReadyCondition)).To(Equal("Applied revision: " + stack.Status.LastAppliedRevision +
		" (by the Pulumi operator; taken over without a run, because nothing has changed since)"))
	t.awaitEvent(stack, "Normal", meta.ReconciliationSucceededReason, "taken over without a run")
	t.checkSettled(stack)
	t.Expect(t.pulumiCalls()).To(BeEmpty(), "no process of Pulumi")
	t.Expect(t.journal(t)).To(Equal(createdBoth()), "the cloud has seen nothing of it")
}

func createdBoth() []string {
	return []string{"create begin b", "create done b", "create begin c", "create done c"}
}

func (t *tenant) expectTheEditAlone() {
	t.test.Helper()
	t.Expect(t.journal(t)).To(Equal(append(createdBoth(), "update begin c", "update done c")))
	t.Expect(t.verbs()).To(Equal([]string{"stack export", "up"}), "it is looked at, and not made again")
	t.Expect(t.things()).To(Equal(map[string]string{"b": "one", "c": "three"}))
}

func (t *tenant) destroysAll(stack *v1.Stack, project string) {
	t.test.Helper()
	t.delete(stack)
	t.awaitGone(stack)
	t.Expect(t.things()).To(BeEmpty())
	t.Expect(t.stateFile(project, "dev")).NotTo(BeAnExistingFile())
}
