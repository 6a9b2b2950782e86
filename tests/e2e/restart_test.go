// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	. "github.com/onsi/gomega"

	v1 "github.com/flux-pulumi/pulumi-controller/api/v1"
	"github.com/flux-pulumi/pulumi-controller/tests/cloud"
	"github.com/flux-pulumi/pulumi-controller/tests/short"
)

// TestASmallController uses its own controller, with one reconcile and two runs at a time. Its parts run in sequence, as
// they stop and kill the controller.
func TestASmallController(t *testing.T) {
	short.Skip(t)
	t.Parallel()
	small := ownController(t, "small", "--concurrent=1", "--concurrent-runs=2")
	for _, part := range []struct {
		name string
		test func(*tenant)
	}{
		{"a run holds no reconcile worker", aRunHoldsNoReconcileWorker},
		{"a third run waits for one of two to end", aThirdRunWaits},
		{"a restart without work to do leaves no trace", aRestartLeavesNoTrace},
		{"an update in place survives the death of its controller", anUpdateSurvivesTheDeathOfItsController},
		{"the end of a run that nobody saw is found out", theEndOfARunThatNobodySawIsFoundOut},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(newTenant(t, small)) })
	}
}

// byItself makes a Stack run its own Program, with a thing in its own cloud. more are further properties of the
// thing.
func (t *tenant) byItself(name string, more ...string) *v1.Stack {
	t.test.Helper()
	program := t.program(oneThing("one", more...))
	program.Name = name
	t.apply(program)
	t.awaitKnown(program)
	stack := t.stack(named(name), func(s *v1.Stack) {
		s.Spec.ProgramRef = &v1.ProgramReference{Name: name}
		s.Spec.Config["lab:directory"] = jsonText(t.ownCloud(name))
	})
	t.apply(stack)
	return stack
}

func (t *tenant) ownCloud(name string) string { return filepath.Join(t.place, name) }

// held is like byItself, with a run that has started to create its thing and ends only when released.
func (t *tenant) held(name string) *v1.Stack {
	t.test.Helper()
	stack := t.byItself(name, "hold: create")
	t.awaitRun(stack, "")
	t.Eventually(cloud.Open(t.ownCloud(name)).Journal).Should(ContainElement(And(HaveField("Op", cloud.Create), HaveField("Phase", cloud.Begin))))
	return stack
}

func (t *tenant) releaseHeld(names ...string) {
	t.test.Helper()
	for _, name := range names {
		t.Expect(cloud.Open(t.ownCloud(name)).Release()).To(Succeed())
	}
}

func aRunHoldsNoReconcileWorker(u *tenant) {
	slow := u.held("slow")
	u.awaitReady(u.byItself("quick"))
	u.Expect(u.Get(u.ctx, keyOf(slow), slow)).To(Succeed())
	u.Expect(slow.Status.Run).NotTo(BeNil())
	u.releaseHeld("slow")
	u.awaitReady(slow)
}

func aThirdRunWaits(u *tenant) {
	one, two := u.held("one"), u.held("two")
	three := u.byItself("three")
	u.Eventually(func(g Gomega) {
		g.Expect(u.Get(u.ctx, keyOf(three), three)).To(Succeed())
		g.Expect(conditions.GetMessage(three, meta.ReadyCondition)).To(Equal("Waiting for other runs to end"))
		g.Expect(conditions.IsReconciling(three)).To(BeTrue())
	}).Should(Succeed())
	u.releaseHeld("one", "two")
	for _, stack := range []*v1.Stack{three, one, two} {
		u.awaitReady(stack)
	}
}

func aRestartLeavesNoTrace(u *tenant) {
	var stacks []*v1.Stack
	for _, name := range []string{"one", "two", "three"} {
		stacks = append(stacks, u.byItself(name))
	}
	for _, stack := range stacks {
		u.awaitReady(stack)
	}
	u.Eventually(u.eventVersions).Should(HaveLen(len(stacks)), "an event is written after the status")
	calls, events := u.pulumiCalls(), u.eventVersions()

	u.Expect(u.Controller.Stop()).To(Succeed())
	u.Expect(u.StartController()).To(Succeed())
	for _, stack := range stacks {
		u.Eventually(func() int { return u.reconcilesOf(stack) }).Should(BeNumerically(">=", 1))
		now := &v1.Stack{}
		u.Expect(u.Get(u.ctx, keyOf(stack), now)).To(Succeed())
		u.Expect(now.ResourceVersion).To(Equal(stack.ResourceVersion), "Stack %s was written to", stack.Name)
	}
	u.Expect(u.pulumiCalls()).To(Equal(calls))
	u.Expect(u.eventVersions()).To(Equal(events))
}

func anUpdateSurvivesTheDeathOfItsController(u *tenant) {
	program := u.program(oneThing("one"))
	u.apply(program)
	stack := u.stack(fromProgram, retriedEvery(2*time.Second))
	u.apply(stack)
	u.awaitReady(stack)
	edit(u, program, func(p *v1.Program) { u.setProgram(p, oneThing("two", "hold: update")) })
	u.awaitJournal("update", "begin", "a")

	u.Expect(u.Controller.Kill()).To(Succeed())
	u.Expect(u.StartController()).To(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())

	u.awaitReady(stack, programEdited(program))
	u.awaitEvent(stack, "Warning", v1.RunInterruptedReason, "that had run")
	u.Expect(u.things()).To(Equal(map[string]string{"a": "two"}))
	u.Expect(u.cloud.Created("a")).To(Equal(1))
	u.Expect(u.resourcesInState("app", "dev")).To(Equal([]string{"a"}))
}

// The controller is frozen while its run ends, so that it cannot record the result before it is killed.
func theEndOfARunThatNobodySawIsFoundOut(u *tenant) {
	stack := u.stack(fromProgram, retriedEvery(2*time.Second))
	program := u.program(oneThing("one", "hold: create"))
	u.apply(program)
	u.apply(stack)
	u.awaitJournal("create", "begin", "a")
	u.Expect(syscall.Kill(u.Controller.PID(), syscall.SIGSTOP)).To(Succeed())
	u.Expect(u.cloud.Release()).To(Succeed())
	u.awaitJournal("create", "done", "a")
	locks := filepath.Join(u.backend, ".pulumi", "locks", "organization", "app", "dev", "*.json")
	u.Eventually(func() ([]string, error) { return filepath.Glob(locks) }).Should(BeEmpty(), "the lock of the run")
	u.Expect(u.Get(u.ctx, keyOf(stack), stack)).To(Succeed())
	u.Expect(stack.Status.Run).NotTo(BeNil())

	u.Expect(u.Controller.Kill()).To(Succeed())
	u.Expect(u.StartController()).To(Succeed())

	u.awaitReady(stack, programEdited(program))
	u.Expect(u.cloud.Created("a")).To(Equal(1))
	u.Expect(u.things()).To(Equal(map[string]string{"a": "one"}))
	u.Expect(u.resourcesInState("app", "dev")).To(Equal([]string{"a"}))
}
